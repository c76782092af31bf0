"""Draw statements from a turn by rules."""
