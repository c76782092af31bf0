"""What a session starts with, and its summary at the end."""
