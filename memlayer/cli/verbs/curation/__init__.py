"""Verbs that go through memories with a person."""
