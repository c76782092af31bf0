"""Readers of other agents' sessions."""
