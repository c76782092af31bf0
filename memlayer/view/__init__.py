"""The page: the memory in a browser, to see, check and mend.

A process of its own, started by hand. It reaches the store only through the daemon's socket.
"""
