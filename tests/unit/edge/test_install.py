"""Installing packages: failures, indexes, the lock, unused files."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from memlayer.edge.bootstrap import install

ROOT = Path(__file__).resolve().parents[3]


def filled(venv: Path, *files: str) -> Path:
    """Make a venv with these files among its packages."""
    site = venv / "lib" / "python3.12" / "site-packages"
    for file in files:
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).write_text(file)
    return site


def held(site: Path) -> set[str]:
    return {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


USED = {"pyarrow/lib.cpython-312-x86_64-linux-gnu.so", "pyarrow/libarrow.so.2600", "pyarrow/libarrow_python.so.2600",
        "numpy/typing/__init__.py", "lancedb/__init__.py", "onnxruntime/capi/state.so"}  # fmt: skip
UNUSED = {"pyarrow/libarrow_flight.so.2600", "pyarrow/tests/test_io.py", "pyarrow/libarrow_python.so.2600.1.0",
          "numpy/lib/tests/test_x.py", "onnxruntime/transformers/x.py", "setuptools/__init__.py",
          "distutils-precedence.pth", "lancedb/__pycache__/x.pyc"}  # fmt: skip


def test_unused_parts_are_left_out(tmp_path: Path) -> None:
    site = filled(tmp_path / "가상 환경 [1]", *USED, *UNUSED)
    install.set_aside(str(tmp_path / "가상 환경 [1]"), ["lancedb"])
    assert held(site) == USED
    install.remove_unused(str(tmp_path / "가상 환경 [1]"))
    assert sorted(path.name for path in (tmp_path / "가상 환경 [1]").iterdir()) == ["lib"]


def test_needed_parts_come_back(tmp_path: Path) -> None:
    site = filled(tmp_path, *USED, *UNUSED)
    install.put_back(install.set_aside(str(tmp_path), ["lancedb"]))
    assert held(site) == (USED | UNUSED) - {"lancedb/__pycache__/x.pyc"}


def test_pinned_setuptools_stays(tmp_path: Path) -> None:
    site = filled(tmp_path, *USED, *UNUSED)
    install.set_aside(str(tmp_path), ["setuptools"])
    assert "setuptools/__init__.py" in held(site) and "pyarrow/tests/test_io.py" not in held(site)


def test_working_runtime_has_no_problem() -> None:
    assert install.problem_of(sys.executable) == ""


def test_broken_runtime_has_problem(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\necho "Traceback" >&2\necho "ModuleNotFoundError: No module named \'lancedb\'" >&2\nexit 1\n'
    )
    python.chmod(0o755)
    assert install.problem_of(str(python)) == "ModuleNotFoundError: No module named 'lancedb'"
    assert "does not start" in install.problem_of(str(tmp_path / "없음"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Collecting x", "ERROR: 알 수 없는 오류", ""], "알 수 없는 오류"),
        (["WARNING: NewConnectionError: ...", "ERROR: No matching distribution found for x"],
         "the package index cannot be reached: check the connection; or set HTTPS_PROXY, or an index in PIP_INDEX_URL"),
        (["WARNING: NewConnectionError: ...", "ERROR: no 패키지"], "the package index cannot be reached"),
        (["error: client error (Connect): tcp connect error"], "the package index cannot be reached"),
        (["ERROR: Could not: [Errno 28] No space left on device"], "the disk is full: make room; Could not"),
        (["SSLError(SSLCertVerificationError: CERTIFICATE_VERIFY_FAILED)"], "the package index shows a certificate"),
        (["ERROR: 401 Client Error: Unauthorized for url"], "the package index, or a proxy, refuses access"),
        (["ERROR: No matching distribution found for x==1"], "the package index lacks a package"),
        (["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"], "a package differs from the one"),
        (["Traceback (most recent call last):", "ImportError: libx.so: cannot open"], "ImportError: libx.so"),
        (["한 줄"], "한 줄"),
        ([], "it ended without a word"),
    ],
)  # fmt: skip
def test_failure_reason_is_one_line(lines: list[str], expected: str) -> None:
    assert install.reason(lines).startswith(expected)
    assert "\n" not in install.reason(lines)


def test_offline_cure_names_wheel_folder() -> None:
    reason = install.reason(["pip._vendor.urllib3.exceptions.NewConnectionError: Name or service not known"])
    assert all(
        word in reason for word in ("PIP_FIND_LINKS", "UV_INDEX_URL", "HTTPS_PROXY", "Name or service not known")
    )


def test_pip_index_beats_uv(tmp_path: Path) -> None:
    config = tmp_path / "pip.conf"
    config.write_text("[global]\nextra-index-url = https://pypi.example/simple\n")
    assert install.pip_has_an_index({"PIP_CONFIG_FILE": str(config)})
    assert install.pip_has_an_index({"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "https://pypi.example/simple"})
    assert not install.pip_has_an_index({"PIP_CONFIG_FILE": os.devnull})
    settings = tmp_path / "uv.toml"
    settings.write_text('[[index]]\nurl = "https://pypi.example/simple"\n')
    assert install.uv_has_an_index({"UV_CONFIG_FILE": str(settings)})
    assert not install.uv_has_an_index({"UV_CONFIG_FILE": str(tmp_path / "none.toml")})


def test_lock_pins_every_requirement() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    ranges = (ROOT / "requirements.in").read_text(encoding="utf-8")
    wanted = re.findall(r"^([a-z-]+)[><=]", ranges, re.MULTILINE)
    pinned = re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE)
    assert wanted and set(wanted) <= set(pinned)
    assert text.count("--hash=sha256:") >= len(pinned)
    assert not {"pillow", "hf-xet"} & set(pinned)  # never loaded: see NEVER_LOADED in the Makefile
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for line in ranges.splitlines():
        assert line.startswith("#") or f'"{line}"' in project
