"""The host's dialect: what a hook process reads and prints. Standard library only."""
