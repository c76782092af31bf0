"""Memories of one person on several machines, through a folder, git or an object store."""
