"""Data that a hook keeps: payloads, replies, tool calls, noise, and the spool."""
