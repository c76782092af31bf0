"""The demo: a story told to memlayer through its real hooks.

Then the memories that it recalls.
"""
