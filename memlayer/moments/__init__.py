"""Errors met before, the history of a file, and changes in git."""
