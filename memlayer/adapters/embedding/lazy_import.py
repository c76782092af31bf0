"""Imports of LanceDB and fastembed without their unused packages.

LanceDB's client for remote catalogues is some 240 generated pydantic models: two thirds of the time `import lancedb`
takes, and memory for as long as the process lives. fastembed's way to the model hub and to images costs 0.5 s and
20 MB. These packages are replaced by stand-ins whose names are empty classes, enough for the annotations and base
classes that are made of them.
"""

import importlib
import importlib.abc
import importlib.machinery
import logging
import os
import sys
import threading
import types
from collections.abc import Sequence

log = logging.getLogger(__name__)

# Held during imports of the large packages. Two threads that import them at once meet half-made state in shared
# modules: `sysconfig` raises AttributeError for whoever asks while another thread's first question fills its variables
# (Python 3.11; seen in 47 of 305 processes that imported both at once, on a busy machine), and a finder removed from
# `sys.meta_path` makes a thread that walks that list skip the next one.
ONE_AT_A_TIME = threading.RLock()

UNUSED = ("lance_namespace", "lance_namespace_urllib3_client")
UNUSED_BY_FASTEMBED = ("PIL", "huggingface_hub", "requests")
UNUSED_TO_FETCH = ("PIL",)  # for images; not in requirements.lock


class _Empty(type):
    """The type of an empty class whose attributes are empty classes."""

    def __getattr__(cls, name: str) -> type:
        return _made(name, cls.__module__)


class _StandIn(types.ModuleType):
    """A package in which every name is an empty class."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> type:
        made = _made(name, self.__name__)
        setattr(self, name, made)
        return made


def _made(name: str, module: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Empty(name, (), {"__module__": module})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, unused: Sequence[str]) -> None:
        self._unused = unused

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in self._unused:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """A stand-in has no code."""


def import_lancedb() -> None:
    """Import lancedb lean; if that fails, whole: slower, the same otherwise."""
    _import_lean("lancedb", UNUSED)


def forbid_reports() -> None:
    """Switch telemetry off, before the packages are loaded.

    Nothing leaves the machine: onnxruntime's Linux wheels otherwise report their use and keep a device id under
    ~/.cache.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"


def import_fastembed(*, to_fetch: bool = False) -> None:
    """Import fastembed, lean and unable to fetch models unless `to_fetch`."""
    forbid_reports()
    _import_lean("fastembed", UNUSED_TO_FETCH if to_fetch else UNUSED_BY_FASTEMBED)


def _import_lean(package: str, unused: Sequence[str]) -> None:
    with ONE_AT_A_TIME:
        if package in sys.modules:
            return
        loaded = set(sys.modules)
        finder = _Finder(unused)
        # A new list each time: other threads may be walking over the old one.
        sys.meta_path = [finder, *sys.meta_path]
        try:
            importlib.import_module(package)
        except (ImportError, AttributeError, TypeError) as bad:  # a later version that does more with these at import
            log.warning("%s is imported whole: %s: %s", package, type(bad).__name__, bad)
            _unload(package, unused, loaded)
        finally:
            sys.meta_path = [other for other in sys.meta_path if other is not finder]


def _unload(package: str, unused: Sequence[str], loaded: set[str]) -> None:
    """Drop the modules that a failed import loaded, except native modules.

    Native modules can be initialised only once in a process (LanceDB's panics the second time), and the next import
    finds them.
    """
    for name in set(sys.modules) - loaded:
        of_package = name.partition(".")[0]
        if of_package in unused or (of_package == package and not _is_native(sys.modules[name])):
            del sys.modules[name]


def _is_native(module: types.ModuleType) -> bool:
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    return isinstance(loader, importlib.machinery.ExtensionFileLoader)
