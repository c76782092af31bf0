"""Moments of a session at which a note is due."""
