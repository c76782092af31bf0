"""Notes that colleagues promoted, as files in a project's place."""
