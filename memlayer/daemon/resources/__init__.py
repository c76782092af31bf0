"""Resources of the daemon: state, jobs, memory, priority."""
