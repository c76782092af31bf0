"""All that a hook may import: the standard library and Python 3.9, nothing else."""
