"""The embedding model."""
