"""Projects, sessions, tombstones and counters, as files."""
