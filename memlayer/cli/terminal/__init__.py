"""Output, progress and invocation, shared by the verbs."""
