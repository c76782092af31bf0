"""memlayer: long-term memory for Claude Code. Importing this package imports nothing else."""

__version__ = "0.1.0"
