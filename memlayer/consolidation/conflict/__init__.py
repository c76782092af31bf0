"""Whether a new statement replaces an older one."""
