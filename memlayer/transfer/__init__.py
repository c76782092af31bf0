"""Export, import and the readable form of a turn."""
