"""The hooks: forward to the daemon, or spool without it."""
