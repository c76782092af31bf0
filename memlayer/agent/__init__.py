"""The agent: a talk with any model, on the same memory."""
