"""Verbs of sharing with other machines and people."""
