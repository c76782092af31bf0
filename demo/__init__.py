"""The demo: a story told to memlayer through its real hooks, and what comes back of it."""
