"""Data that hooks keep: payloads, replies, tool calls, noise, the spool."""
