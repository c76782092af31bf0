"""One module per third party: each translates it to a port and its errors to ours."""
