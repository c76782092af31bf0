"""Installing packages: failures, the lock."""

import re
import sys
from pathlib import Path

import pytest

from memlayer.edge.bootstrap import install

ROOT = Path(__file__).resolve().parents[3]
UNREACHABLE = install.HINTS[0][1] + "; "


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
         UNREACHABLE + "No matching distribution found for x"),
        (["error: Request failed", "  Caused by: tcp connect error", "  Caused by: 연결 거부"],
         UNREACHABLE + "Request failed"),
        (["SSLError(SSLCertVerificationError: CERTIFICATE_VERIFY_FAILED)"], UNREACHABLE),
        (["ERROR: 401 Client Error: Unauthorized for url"], UNREACHABLE),
        (["ERROR: Could not find a version that satisfies the requirement x==1 (from versions: 0.8, 0.9)",
          "ERROR: No matching distribution found for x==1"], "the package index has no build for this machine"),
        (["  cause: Because x==1 has no wheels with a matching platform tag"], "the package index has no build"),
        # pip says no more where a server answers 500, 404 or with a page of the hotel
        (["ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)",
          "ERROR: No matching distribution found for x==1"], "the package index does not answer, or has no build"),
        (["error: No solution found", "  cause: Because x was not found in the package registry"],
         "the package index does not answer, or has no build"),
        (["error: Failed to fetch: http://index/simple/x/", "  cause: HTTP status server error (503)"], UNREACHABLE),
        (["WARNING: Retrying after connection broken by 'RemoteDisconnected'", "ERROR: No matching distribution"],
         UNREACHABLE),
        (["ERROR: Could not install packages due to an OSError: Exceeded 30 redirects."], UNREACHABLE),
        (["Downloading proxy-tools (403 kB)", "ERROR: [Errno 28] No space left on device"], "[Errno 28] No space"),
        (["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"], "THESE PACKAGES DO NOT MATCH"),
        (["Traceback (most recent call last):", "ImportError: libx.so: cannot open"], "ImportError: libx.so"),
        (["한 줄"], "한 줄"),
        ([], "it ended without a word"),
    ],
)  # fmt: skip
def test_failure_reason_is_one_line(lines: list[str], expected: str) -> None:
    assert install.reason(lines).startswith(expected)
    assert "\n" not in install.reason(lines)


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
