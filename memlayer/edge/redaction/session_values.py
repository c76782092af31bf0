"""Values that a session gave as secrets: hidden where it repeats them.

They are in this process's memory alone, never on disk.
"""

from __future__ import annotations

import re
from _thread import _local  # `threading` costs a hook a millisecond

_MOST_VALUES, _MOST_SESSIONS = 100, 64
_GIVEN: dict[str, dict[str, str]] = {}  # session id -> value -> kind, the session heard last behind the others
_ASKED: dict[str, str] = {}  # session id -> the last question
_NOW = _local()


class Heard:
    """A session whose texts this thread redacts, while it is entered."""

    def __init__(self, session_id: str) -> None:
        self.is_new = session_id not in _GIVEN
        self._values = _GIVEN[session_id] = _GIVEN.pop(session_id, {})
        for oldest in list(_GIVEN)[:-_MOST_SESSIONS]:
            _GIVEN.pop(oldest, None)
            _ASKED.pop(oldest, None)
        self._id = session_id

    def __enter__(self) -> Heard:
        self._before = getattr(_NOW, "values", None)
        _NOW.values = self._values
        return self

    def __exit__(self, *failure: object) -> None:
        _NOW.values = self._before

    @property
    def question(self) -> str:
        """The end of the last answer, if it asks for something."""
        return _ASKED.get(self._id, "")

    @question.setter
    def question(self, text: str) -> None:
        _ASKED[self._id] = text


def note(value: str, kind: str) -> None:
    """Hide a value in the later texts of the session."""
    values = getattr(_NOW, "values", None)
    if values is not None and len(values) < _MOST_VALUES:
        values[value] = kind


def hide(text: str) -> str:
    """Replace the session's values by `[redacted:<kind>]`, as whole words."""
    for value, kind in sorted((getattr(_NOW, "values", None) or {}).items(), key=lambda pair: -len(pair[0])):
        if value in text:
            # It begins with the value: the engine skips all else.
            literal = re.escape(value)
            whole = literal + r"(?<![0-9A-Za-z]%s)" % literal * value[0].isalnum()
            whole += r"(?![0-9A-Za-z])" * value[-1].isalnum()
            text = re.sub(whole, "[redacted:%s]" % kind, text)
    return text
