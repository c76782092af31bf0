"""Language models for consolidation."""
