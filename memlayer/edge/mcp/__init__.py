"""The MCP server: a bridge from a client's standard streams to the daemon."""
