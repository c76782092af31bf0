"""The daemon's memory with the model loaded by hooks.

Empty, after many turns, and after more of them.
"""

import json
import sys
from pathlib import Path

import pytest

from memlayer.edge.capture.payload import spool_event
from memlayer.edge.home import paths
from memlayer.edge.ipc.client import Client

ROOT = Path(__file__).resolve().parents[2]
MAX_BYTES = 350e6
TURNS = 250

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system tells the peak only")


def spool_turns(home: Path, project: Path, first: int) -> None:
    """Put turns into the spool, as hooks without a daemon do."""
    folder = Path(paths.make_folder(paths.spool(str(home))))
    for number in range(first, first + TURNS):
        texts = {
            "user": f"배포 {number}번은 왜 실패했지?",
            "assistant": f"Deployment {number} failed: config_{number}.yaml 에 포트 {number + 1000}이 없어서.",
        }
        for kind, text in texts.items():
            event = spool_event(
                kind=kind, session_id=f"s{number // 20}", prompt_id=f"p{number}", text=text,
                at_ms=1_760_000_000_000 + number, project_dir=str(project),
            )  # fmt: skip
            (folder / f"{number:013d}-{event['id']}.json").write_text(json.dumps(event, ensure_ascii=False))


@pytest.mark.fault
@pytest.mark.timeout(120)
def test_daemon_memory_stays_bounded(home: Path, project: Path) -> None:
    """Takes long: the model embeds 500 turns."""
    home.mkdir(mode=0o700)
    client = Client(str(home), str(ROOT), sys.executable)
    seen = []
    try:
        client.call("flush", {"wait": True}, deadline_s=60)
        assert client.call("status", {})["mode"] == "hybrid"
        for first in (0, TURNS):
            spool_turns(home, project, first)
            assert client.call("flush", {"wait": True}, deadline_s=60)["unembedded"] == 0
            for number in range(first, first + 10):
                asked = {"prompt": f"배포 {number}번 config 포트?", "project_dir": str(project)}
                assert ".yaml 에 포트" in client.call("recall", asked)["block"]
            seen.append(client.call("status", {})["rss_bytes"])
    finally:
        client.stop()
    assert max(seen) <= MAX_BYTES, seen
    assert seen[1] - seen[0] < 30e6, seen
