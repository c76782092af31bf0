"""The working set at a session's start, the summary at its end."""
