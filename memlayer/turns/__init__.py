"""What a turn says: its text, its outcome, whether it is worth recalling."""
