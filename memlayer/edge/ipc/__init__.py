"""The socket between hooks, command line and daemon."""
