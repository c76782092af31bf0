"""Takes out of a runtime what its packages bring along and memlayer never loads: a third of its size.

Set aside first, removed once the rest has been tried; where a platform needs one of these after all, all come back.
"""

from __future__ import annotations

import glob
import os
import shutil

TYPE_CHECKING = False  # what type checkers look for, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Iterable

SITE = os.path.join("lib", "python3*", "site-packages")

# Below site-packages: headers, tests, clients of servers, tools that make models, second copies of libraries.
UNUSED = (
    "pyarrow/include", "pyarrow/src", "pyarrow/tests", "pyarrow/libarrow_flight*", "pyarrow/libarrow_python_flight*",
    "pyarrow/_flight*", "pyarrow/libarrow_s3*", "pyarrow/_s3fs*", "pyarrow/libarrow_python*.so",
    "pyarrow/libarrow_python*.so.*.*.*", "numpy/tests", "numpy/*/tests", "onnxruntime/transformers",
    "onnxruntime/tools", "onnxruntime/quantization", "onnxruntime/capi/libonnxruntime.so.*",
)  # fmt: skip

# What `python -m venv` puts there and no wheel needs. The .pth goes first: it imports the others at every start.
FROM_VENV = ("distutils-precedence.pth", "_distutils_hack", "pkg_resources", "setuptools", "setuptools-*")

ASIDE = "unused"


def site_of(venv: str) -> str:
    """The folder that holds a venv's packages; "" when there is none."""
    return next(iter(glob.glob(os.path.join(glob.escape(venv), SITE))), "")


def set_aside(venv: str, pinned: Iterable[str]) -> list[tuple[str, str]]:
    """Move what is unused to another folder of the venv: (from, to) of each. pinned: names of packages to keep whole.

    Compiled modules go at once: what is used is compiled again when it is first loaded. Raises OSError.
    """
    site, folder = site_of(venv), os.path.join(venv, ASIDE)
    os.makedirs(folder, exist_ok=True)
    patterns = UNUSED if "setuptools" in pinned else UNUSED + FROM_VENV
    moved: list[tuple[str, str]] = []
    for pattern in patterns:
        for path in glob.glob(os.path.join(glob.escape(site), pattern)):
            moved.append((path, os.path.join(folder, str(len(moved)))))
            os.rename(*moved[-1])
    for parent, names, _ in os.walk(site):
        if "__pycache__" in names:
            names.remove("__pycache__")
            shutil.rmtree(os.path.join(parent, "__pycache__"), ignore_errors=True)
    return moved


def put_back(moved: list[tuple[str, str]]) -> None:
    """Undo set_aside. Raises OSError."""
    for path, aside in reversed(moved):
        os.rename(aside, path)


def remove(venv: str) -> None:
    """Remove what was set aside."""
    shutil.rmtree(os.path.join(venv, ASIDE), ignore_errors=True)
