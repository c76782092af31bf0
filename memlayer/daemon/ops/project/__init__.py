"""Operations on the knowledge of a project: its work, files and topics."""
