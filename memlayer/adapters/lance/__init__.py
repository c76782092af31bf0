"""The store in LanceDB."""
