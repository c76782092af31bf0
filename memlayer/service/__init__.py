"""What memlayer does, in terms of ports: ingest, consolidation, recall, flush, forget."""
