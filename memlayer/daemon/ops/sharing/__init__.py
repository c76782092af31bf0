"""Operations on what is shared with other machines and people."""
