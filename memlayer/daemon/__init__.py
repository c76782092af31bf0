"""The process that owns the store: server, dispatch, jobs, lifecycle."""
