"""Both ends of the socket: paths, frames, client, spool, project identity. Standard library only."""
