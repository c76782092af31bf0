"""Read the host's transcripts: missed turns, imports, audits."""
