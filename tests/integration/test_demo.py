"""The demo as a person starts it.

It ends well, explains its output, leaves nothing behind, and fails when it must.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from demo.stage import Stage

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.timeout(200)  # five sessions, a daemon that is started again for the reading
STORY = ROOT / "demo" / "story"


def run_demo(scratch: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The demo as a process, with `scratch` as its temporary folder."""
    scratch.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(scratch.parent / "person"),
        "TMPDIR": str(scratch),
        "MEMLAYER_RUNTIME_DIR": os.environ.get("MEMLAYER_RUNTIME_DIR", sys.prefix),
        "LC_ALL": "C",
    }
    return subprocess.run(
        [sys.executable, str(ROOT / "demo" / "run.py"), *words], env=environment, capture_output=True, timeout=150,
        encoding="utf-8", cwd=scratch.parent, check=False,
    )  # fmt: skip


def processes_in(folder: Path) -> list[str]:
    """Processes whose command line or environment names the folder (Linux only)."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(folder) in told:
            found.append(process.name)
    return found


def test_demo_succeeds_and_cleans_up(tmp_path: Path) -> None:
    """Takes long: the whole demo, with daemons and the model."""
    scratch = tmp_path / "scratch"
    done = run_demo(scratch)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-3000:]
    assert "Everything that had to come back did" in done.stdout
    assert "WRONG" not in done.stdout
    for shown in (
        "[Memory context]",
        "its quote does not stand in the session",
        "ClickHouse",
        "화요일",
        "nothing is added",
        "memlayer search",
        "memories",
        "메모에 따르면:",
    ):
        assert shown in done.stdout
    assert "\x1b" not in done.stdout  # no terminal, no colours
    assert list(scratch.iterdir()) == []
    assert processes_in(scratch) == []
    assert not (tmp_path / "person").exists()


def test_search_while_daemon_tidies() -> None:
    with Stage(sys.prefix) as stage:
        (stage.home / "kept").write_text("배포 qz1", encoding="utf-8")
        ends = threading.Event()

        def tidy() -> None:
            while not ends.is_set():
                folder = stage.home / "version"
                folder.mkdir()
                for number in range(20):
                    (folder / str(number)).write_text("배포 qz2")
                shutil.rmtree(folder)

        with ThreadPoolExecutor(1) as pool:
            tidied = pool.submit(tidy)
            try:
                found = [stage.found_on_disk(("qz1", "qz3")) for _ in range(200)]
            finally:
                ends.set()
            tidied.result(timeout=10)
        assert found == [["qz1"]] * 200


@pytest.mark.fault
def test_missing_memory_fails_demo(tmp_path: Path) -> None:
    """Takes long: the demo again, without the sessions that tell the answer."""
    story = tmp_path / "story"
    shutil.copytree(STORY, story)
    (story / "3_elsewhere.json").unlink()
    for name, turns in (("1_monday", 1), ("2_thursday", 2)):
        told = json.loads((story / (name + ".json")).read_text(encoding="utf-8"))
        told["turns"] = told["turns"][:turns]
        told["begins_with"] = None
        told["never_kept"] = []
        (story / (name + ".json")).write_text(json.dumps(told), encoding="utf-8")
    done = run_demo(tmp_path / "scratch", "--story", str(story))
    assert done.returncode == 1
    assert "WRONG: 'Where do the order events live?': 'ClickHouse' did not come back" in " ".join(done.stdout.split())
    assert list((tmp_path / "scratch").iterdir()) == []
