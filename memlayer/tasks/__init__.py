"""Tasks, their blockers, and the edges between these and memories."""
