"""Imports LanceDB without its client for remote catalogues, which a store in a local folder never uses.

That client is some 240 generated pydantic models: two thirds of the time `import lancedb` takes, and memory for as
long as the process lives. Its packages are replaced by stand-ins whose names are empty classes, enough for the
annotations and base classes that LanceDB makes of them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence

UNUSED = ("lance_namespace", "lance_namespace_urllib3_client")


class _StandIn(types.ModuleType):
    """A package in which every name is an empty class."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__module__": self.__name__})
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in UNUSED:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """A stand-in has no code."""


def import_lancedb() -> None:
    """Import lancedb lean. One that cannot be imported so is left to be imported whole: slower, the same otherwise."""
    if "lancedb" in sys.modules:
        return
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        import lancedb  # noqa: F401
    except (ImportError, AttributeError, TypeError):  # a later version that does more with these packages at import
        for name in [name for name in sys.modules if name.partition(".")[0] in (*UNUSED, "lancedb")]:
            del sys.modules[name]
    finally:
        sys.meta_path.remove(finder)
