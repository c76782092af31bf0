"""From spooled events to searchable memories."""
