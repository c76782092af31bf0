"""The MCP server: bridges a client's standard streams to the daemon."""
