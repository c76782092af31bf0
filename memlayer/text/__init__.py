"""Words, sentences and chunks of English and Korean text."""
