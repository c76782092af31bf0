"""`memlayer doctor` and its checks."""
