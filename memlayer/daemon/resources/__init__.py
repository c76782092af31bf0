"""What the daemon holds: state, jobs, memory, priority."""
