"""The launcher behind `bin/memlayer`, and the status line."""
