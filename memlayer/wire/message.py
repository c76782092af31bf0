"""Arguments and answers of an operation, sent as JSON and read back.

The command line makes the arguments and sends them, the daemon answers with the struct that they name. Whoever can
reach the socket can send anything, so each value is checked. Two versions may meet for a moment: a missing name has its
default, an unknown one is ignored, and names are added, never removed or renamed within a protocol. Times end in _ms:
Unix time in milliseconds, 0 for unknown or never.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Generic, Self, TypeVar, get_args

import msgspec

from memlayer.errors import ProtocolError, UserError

MAX_LISTED = 10_000
MAX_NUMBER = 2**63
_UNPAIRED = re.compile("[\ud800-\udfff]")
# Where Python does not allow the name.
_NAMES = {"is_global": "global", "with_superseded": "all", "id_": "id", "from_": "from"}

# The kinds of values, by the name of their annotation.
Path = str  # as os.fsdecode gives it, so with unpaired surrogates
Limit = int  # from 1 to MAX_LISTED
Names = tuple[str, ...]  # ids or paths
TextOrNone = str | None  # None: not given, unlike ""

Answer = TypeVar("Answer", bound="Message")


class Message(msgspec.Struct, rename=_NAMES):
    """A JSON object of known names, each with a default."""

    @classmethod
    def of(cls, record: object, **more: Any) -> Self:
        """Return the message with a record's fields of the same names.

        more: the fields that the record does not have, or has otherwise. One that may be missing may be missing here.
        """
        for name, default in zip(cls.__struct_fields__, cls.__struct_defaults__, strict=True):
            if name not in more and (default is not msgspec.UNSET or hasattr(record, name)):
                more[name] = getattr(record, name)
        return cls(**more)

    @classmethod
    def parse(cls, sent: object) -> Self:
        """Read a message. Raises ProtocolError."""
        try:
            return msgspec.convert(sent, cls)
        except msgspec.ValidationError as bad:
            raise ProtocolError(f"the daemon's answer is not the expected one: {bad}") from bad

    def fields(self) -> dict[str, Any]:
        """Return the JSON object that is sent."""
        sent: dict[str, Any] = msgspec.to_builtins(self)
        return sent

    def changed(self, **fields: Any) -> Self:
        """Return the message with other values."""
        return msgspec.structs.replace(self, **fields)


class Asking(Message, Generic[Answer], tag_field="op"):
    """Arguments of the operation that its tag names."""

    @property
    def op(self) -> str:
        """The name in a request."""
        return str(self.__struct_config__.tag)

    @classmethod
    def answer_type(cls) -> type[Answer]:
        """Return the struct of its answer."""
        kind: type[Answer] = get_args(cls.__orig_bases__[0])[0]  # type: ignore[attr-defined]
        return kind

    @classmethod
    def parse(cls, sent: object) -> Self:
        """Read arguments that anybody may have sent. Raises UserError."""
        if not isinstance(sent, Mapping):
            raise UserError("the request is not a JSON object")
        given = {}
        for name, kind in cls.__annotations__.items():
            name = _NAMES.get(name, name)
            if sent.get(name) or (kind == "TextOrNone" and name in sent):  # 0 and null stand for the default
                given[name] = _READERS[kind](sent[name], name)
        try:
            return msgspec.convert(given, cls)
        except msgspec.ValidationError as bad:
            raise UserError(str(bad)) from bad

    def read_answer(self, sent: object) -> Answer:
        """Read the daemon's answer. Raises ProtocolError."""
        return self.answer_type().parse(sent)

    def fields(self) -> dict[str, Any]:
        """Return the JSON object that is sent."""
        sent = super().fields()
        del sent["op"]
        return sent


def _text(value: object, name: str) -> object:
    return _UNPAIRED.sub("\ufffd", value) if isinstance(value, str) else value


def _path(value: object, name: str) -> object:
    if isinstance(value, str) and "\0" in value:
        raise UserError(f"{name}: there is a null character in it")
    return value


def _number(value: object, name: str) -> object:
    if isinstance(value, (int, float)) and not -MAX_NUMBER < value < MAX_NUMBER:
        raise UserError(f"{name}: a number is expected")
    return value


def _whole(value: object, name: str) -> object:
    value = _number(value, name)
    return int(value) if isinstance(value, (int, float)) else value


def _limit(value: object, name: str) -> object:
    value = _whole(value, name)
    return min(MAX_LISTED, max(1, value)) if isinstance(value, int) else value


def _flag(value: object, name: str) -> object:
    return bool(value)


def _names(value: object, name: str) -> object:
    return [_path(str(part), name) for part in value] if isinstance(value, list) else value


_READERS: dict[str, Callable[[Any, str], object]] = {
    "str": _text, "TextOrNone": _text, "Path": _path, "int": _whole, "float": _number, "Limit": _limit,
    "bool": _flag, "Names": _names,
}  # fmt: skip
