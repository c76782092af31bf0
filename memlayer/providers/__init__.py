"""Whoever calls a language model or a server of vectors."""
