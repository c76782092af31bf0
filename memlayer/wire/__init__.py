"""Operations of the daemon: a struct for arguments, a struct for the answer."""
