"""Arguments and answers of the daemon's operations: sent as JSON, read back.

The command line makes a record and sends it (`fields`); the daemon reads it back (`read`). Whoever can reach the socket
can send anything, so `read` checks each value. A missing name has its default and an unknown one is ignored: two
versions may meet for a moment. So it is with answers (`read_answer`). Hooks do not import this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    ForwardRef,
    Generic,
    Optional,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from memlayer.errors import UserError

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: bool) -> Callable[[type], type]:
        """Return a decorator that changes nothing."""
        return lambda kind: kind


MAX_LISTED = 10_000
_UNPAIRED = re.compile("[\ud800-\udfff]")
# Attribute -> name in JSON, where Python does not allow the name.
_WIRE_NAMES = {"is_global": "global", "with_superseded": "all", "id_": "id", "from_": "from"}

# The kinds of values, by the name of their annotation.
Path = str  # as os.fsdecode gives it
Limit = int  # from 1 to MAX_LISTED; 0 is the default
Names = tuple[str, ...]
TextOrNone = Optional[str]  # None: not given


Answer = TypeVar("Answer")  # a TypedDict


@dataclass_transform(frozen_default=True)
class Arguments(Generic[Answer]):
    """Arguments of one operation, each with a default.

    op: its name in a request. kinds: the name of each value's kind. No dataclass: seventy of them take half of a verb's
    time to import.
    """

    op: ClassVar[str]
    kinds: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, op: str) -> None:
        super().__init_subclass__()
        cls.op = op
        cls.kinds = {name: kind for name, kind in cls.__annotations__.items() if not kind.startswith("ClassVar")}

    def __init__(self, *values: Any, **named: Any) -> None:
        given = {**dict(zip(self.kinds, values)), **named}  # Python 3.9
        if len(given) < len(values) + len(named) or not given.keys() <= self.kinds.keys():
            raise TypeError(f"{type(self).__name__} takes {', '.join(self.kinds) or 'nothing'}")
        self.__dict__.update(given)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.fields() == other.fields()

    def __hash__(self) -> int:
        return hash((self.op, *self.fields().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__dict__})"

    def changed(self: Record, **named: Any) -> Record:
        """Return these arguments with other values."""
        return type(self)(**{**self.__dict__, **named})

    @classmethod
    def answer_type(cls) -> Any:
        """Return the type of its answer, whose module is imported only now."""
        named = get_args(cls.__orig_bases__[0])[0]  # type: ignore[attr-defined]
        if not isinstance(named, ForwardRef):
            return named
        module, _, name = named.__forward_arg__.rpartition(".")
        return getattr(import_module("memlayer.edge.ipc." + module), name)

    def fields(self) -> dict[str, Any]:
        """Return the JSON object that is sent."""
        return {_wire_name(name): getattr(self, name) for name in self.kinds}

    def read_answer(self, sent: Mapping[str, Any]) -> Answer:
        """Return a whole answer: each name of its type has a value.

        A missing value, and a wrong text or number, is the empty one of the type, None if it may be. Raises TypeError
        for a wrong list or object.
        """
        whole: Answer = value_of(self.answer_type(), sent)
        return whole


Record = TypeVar("Record", bound=Arguments[Any])


def read(kind: type[Record], sent: Mapping[str, Any]) -> Record:
    """Read an operation's arguments from a JSON object. Raises UserError."""
    if not isinstance(sent, dict):
        raise UserError("the request is not a JSON object")
    values = {}
    for field, named in kind.kinds.items():
        name = _wire_name(field)
        values[field] = _READERS[named](sent.get(name), name, getattr(kind, field))
    return kind(**values)


def _wire_name(name: str) -> str:
    return _WIRE_NAMES.get(name, name)


def _text(value: object, name: str, default: str) -> str:
    """A text that can be written as UTF-8."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise UserError(f"{name}: a text is expected")
    return _UNPAIRED.sub("\ufffd", value)


def _text_or_none(value: object, name: str, default: None) -> Optional[str]:  # noqa: UP045 - Python 3.9
    return None if value is None else _text(value, name, "")


def _path(value: object, name: str, default: str) -> str:
    """A path as os.fsdecode gives it, so with unpaired surrogates."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise UserError(f"{name}: a path is expected")
    if "\0" in value:
        raise UserError(f"{name}: there is a null character in it")
    return value


def _number(value: object, name: str, default: float) -> float:
    value = value or default
    if not isinstance(value, (int, float)) or not -(2**63) < value < 2**63:
        raise UserError(f"{name}: a number is expected")
    return value


def _whole(value: object, name: str, default: int) -> int:
    return int(_number(value, name, default))


def _limit(value: object, name: str, default: int) -> int:
    return min(MAX_LISTED, max(1, _whole(value, name, default) or default))


def _flag(value: object, name: str, default: bool) -> bool:
    return bool(value)


def _names(value: object, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Ids or paths of a list."""
    if not isinstance(value or [], list):
        raise UserError(f"{name}: a list is expected")
    return tuple(_path(str(part), name, "") for part in value or [])  # type: ignore[attr-defined]


_READERS: dict[str, Callable[[Any, str, Any], Any]] = {
    "str": _text,
    "TextOrNone": _text_or_none,
    "Path": _path,
    "int": _whole,
    "float": _number,
    "Limit": _limit,
    "bool": _flag,
    "Names": _names,
}


def value_of(kind: Any, value: Any) -> Any:
    """Return the value, or the empty value of its type."""
    if kind is Any or kind is object:
        return value
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Union:  # Optional
        return None if value is None else value_of(parts[0], value)
    if origin is list:
        return [value_of(parts[0], part) for part in _whole_or_empty(value, list)]
    if origin is dict:
        return {name: value_of(parts[1], part) for name, part in _whole_or_empty(value, dict).items()}
    required = getattr(kind, "__required_keys__", None)
    if required is None:
        is_right = isinstance(value, (int, float) if kind is float else kind) and not (
            isinstance(value, bool) and kind is not bool
        )
        return value if is_right else kind()
    sent = _whole_or_empty(value, dict)
    known = {
        name: value_of(hint, sent.get(name))
        for name, hint in _hints_of(kind).items()
        if name in required or name in sent
    }
    return {**sent, **known}


def _whole_or_empty(value: Any, kind: type[Any]) -> Any:
    """Return a list or an object. Raises TypeError for another value."""
    if value is not None and not isinstance(value, kind):
        raise TypeError("a %s of an answer is a %s" % (kind.__name__, type(value).__name__))
    return kind() if value is None else value


@cache
def _hints_of(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)
