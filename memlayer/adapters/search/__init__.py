"""Lexical and vector search in memory."""
