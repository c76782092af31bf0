"""A turn: its text, its outcome, its salience."""
