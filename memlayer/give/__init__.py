"""Decide whether a prompt needs notes, and find them."""
