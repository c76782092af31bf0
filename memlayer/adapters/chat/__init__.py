"""Language models that a person talks to."""
