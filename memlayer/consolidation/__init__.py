"""Core memories: drawn from turns, compared, superseded."""
