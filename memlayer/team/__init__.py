"""Notes that colleagues promoted: as files, in a place that a project has."""
