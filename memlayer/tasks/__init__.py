"""Tasks, the things they wait for, and how both hang together with memories."""
