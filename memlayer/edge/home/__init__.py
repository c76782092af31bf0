"""Files and folders of the home, projects and their registry."""
