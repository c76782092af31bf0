"""Helpers that drive the real Claude Code."""
