"""Forget, retain and erase."""
