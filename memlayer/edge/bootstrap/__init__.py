"""Find or build the runtime, and start the daemon."""
