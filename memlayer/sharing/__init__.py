"""Memories of one person on several machines."""
