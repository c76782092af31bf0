"""Memories as Markdown files that a person may edit."""
