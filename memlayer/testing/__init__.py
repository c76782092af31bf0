"""Test doubles of the ports: a hashing embedder, a store in memory."""

from memlayer.testing.hash_embedder import HashEmbedder
from memlayer.testing.memory_store import MemoryStore

__all__ = ["HashEmbedder", "MemoryStore"]
