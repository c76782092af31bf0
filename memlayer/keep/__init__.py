"""One way of every memory into the store, whoever made it."""
