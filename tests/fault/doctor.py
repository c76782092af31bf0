"""`memlayer doctor --json` as a person would run it, for one home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MAIN = Path(__file__).resolve().parent.parent.parent / "memlayer" / "cli" / "__main__.py"


def cli(home: Path, *arguments: str, wrap: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line for `home`. wrap: a command that confines it."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "MEMLAYER_HOME": str(home),
        "MEMLAYER_EMBEDDING__PROVIDER": "none",
        "MEMLAYER_RUNTIME_DIR": os.environ.get("MEMLAYER_RUNTIME_DIR", str(Path(sys.executable).parent.parent)),
    }
    return subprocess.run(
        [*(wrap or []), sys.executable, "-I", str(MAIN), *arguments],
        capture_output=True, text=True, env=environment, cwd="/", timeout=120, check=False,
    )  # fmt: skip


def diagnosis(home: Path, wrap: list[str] | None = None) -> dict[str, tuple[str, str]]:
    """What doctor says: name of the check -> (ok | warn | fail, its words)."""
    done = cli(home, "doctor", "--json", wrap=wrap)
    found: dict[str, Any] = json.loads(done.stdout)
    return {check["name"]: (check["state"], check["says"]) for check in found["checks"]}
