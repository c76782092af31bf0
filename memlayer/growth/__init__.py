"""The proof of a memory by its uses, sessions and evidence."""
