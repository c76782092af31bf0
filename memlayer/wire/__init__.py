"""Operations of the daemon: arguments and answers as structs."""
