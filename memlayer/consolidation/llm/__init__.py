"""Draw statements from turns by a language model."""
