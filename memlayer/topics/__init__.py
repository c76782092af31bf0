"""Work over many sessions: its matters and its continuity."""
