"""Notes that a language model writes from finished sessions."""
