"""Scripts that measure quality, and the data sets that ship for them."""
