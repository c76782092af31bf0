"""Secrets and private spans, removed before anything reaches the disk."""
