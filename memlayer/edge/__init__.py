"""All code that a hook may import: standard library, Python 3.9."""
