"""Settings from a running daemon are those that the verb itself would read."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memlayer.cli.doctor import checks_daemon
from memlayer.config import settings_stamp
from memlayer.daemon.ops import maintenance
from memlayer.errors import DaemonError
from memlayer.wire import upkeep as ops
from tests.support.tables import tables


class Served:
    """A client of a daemon that started with the settings of this stamp; None: none runs."""

    def __init__(self, home: Path, stamp: str | None) -> None:
        self.home, self._stamp = str(home), stamp

    def ask(self, asked: ops.Settings, **_: object) -> Any:
        if self._stamp is None:
            raise DaemonError("no daemon is running")
        state: Any = SimpleNamespace(home=self.home, held=SimpleNamespace(stamp=self._stamp))
        taken = ops.Settings.parse(json.loads(json.dumps(asked.fields())))
        answer = maintenance.settings(state, taken, lambda _: None)
        return asked.read_answer(json.loads(json.dumps(answer.fields())))


def held(home: Path, stamp: str | None, root: Path | str = "", **environ: str) -> Any:
    found = checks_daemon.held_settings(Served(home, stamp), str(root), environ)  # type: ignore[arg-type]
    return json.loads(json.dumps(found.fields()))  # a tuple is a list on the wire


@pytest.mark.parametrize("environ", tables("cli/held_settings")["daemon_reads_the_files_and_the_callers_variables"])
@pytest.mark.parametrize("text", ["", "recall:\n  max_entries: 1\n", "recall:\n  max_entrys: 1\n", "capture: [\n"])
def test_daemon_reads_the_files_and_the_callers_variables(
    home: Path, project: Path, text: str, environ: dict[str, str]
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(text)
    (project / ".memlayer.yaml").write_text("recall:\n  min_chance: 0.5\nmodel: x\n")
    for root in ("", project):
        assert held(home, settings_stamp(str(home)), root, **environ) == held(home, None, root, **environ)


def test_daemon_with_older_settings_is_told(home: Path) -> None:
    home.mkdir(exist_ok=True)
    stamp = settings_stamp(str(home))
    assert not held(home, stamp)["changed_since_daemon"]
    (home / "config.yaml").write_text("recall:\n  max_entries: 1\n")
    assert held(home, stamp)["changed_since_daemon"]
