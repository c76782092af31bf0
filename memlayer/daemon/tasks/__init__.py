"""The daemon's work behind requests."""
