"""One adapter per third party, to a port and our errors."""
