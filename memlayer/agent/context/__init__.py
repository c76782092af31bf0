"""The model's context: its messages, and making room in it."""
