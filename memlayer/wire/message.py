"""Arguments and answers of an operation, sent as JSON and read back.

The command line makes the arguments and sends them, the daemon answers with the struct that they name. Whoever can
reach the socket can send anything, so each value is checked. Two versions may meet for a moment: a missing name has its
default, an unknown one is ignored, and names are added, never removed or renamed within a protocol. Times end in _ms:
Unix time in milliseconds, 0 for unknown or never.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Generic, Self, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta

from memlayer.errors import ProtocolError, UserError

MAX_LISTED = 10_000
_UNPAIRED = re.compile("[\ud800-\udfff]")
# Where Python does not allow the name.
_NAMES = {"with_superseded": "all", "id_": "id", "from_": "from"}

Path = Annotated[str, Meta(pattern=r"\A[^\0]*\Z")]  # as os.fsdecode gives it, so with unpaired surrogates
Names = tuple[Path, ...]  # ids or paths
Limit = Annotated[int, Meta(ge=1, le=MAX_LISTED)]
Whole = Annotated[int, Meta(gt=-(2**53), lt=2**53)]
Share = Annotated[float, Meta(ge=0, le=1)]
TextOrNone = str | None  # None: not given, unlike ""

Answer = TypeVar("Answer", bound="Message")


class Message(msgspec.Struct, rename=_NAMES):
    """A JSON object of known names, each with a default."""

    @classmethod
    def of(cls, record: object, **more: Any) -> Self:
        """Return the message with a record's fields of the same names.

        more: the other fields, and those that differ.
        """
        own = {name: getattr(record, name) for name in cls.__struct_fields__ if hasattr(record, name)}
        return cls(**own | more)

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
        """Read arguments; null stands for a default. Raises UserError."""
        if isinstance(sent, Mapping):
            sent = {name: value for name, value in sent.items() if value is not None}
        try:
            asked = msgspec.convert(sent, cls, strict=False)
        except msgspec.ValidationError as bad:
            raise UserError(str(bad)) from bad
        texts = ((name, getattr(asked, name)) for name in _texts(cls))
        return asked.changed(**{name: _UNPAIRED.sub("\ufffd", text) for name, text in texts if text})

    def limited_to(self, folder: str) -> Self:
        """Return the arguments, limited to one project.

        project_dir: the project meant. limit_dir: the only one that rows may be of, also where an id names them.
        """
        limits = {"project_dir", "limit_dir"} & set(self.__struct_fields__)
        return self.changed(**dict.fromkeys(limits, folder))

    def read_answer(self, sent: object) -> Answer:
        """Read the daemon's answer. Raises ProtocolError."""
        return self.answer_type().parse(sent)

    def fields(self) -> dict[str, Any]:
        """Return the JSON object that is sent."""
        sent = super().fields()
        del sent["op"]
        return sent


@cache
def _texts(kind: type[Message]) -> list[str]:
    """Return the fields that hold text, which can be written as UTF-8."""
    return [name for name, hint in get_type_hints(kind, include_extras=True).items() if hint in (str, TextOrNone)]
