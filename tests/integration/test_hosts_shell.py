"""Verbs that a model types in the host's shell, and those of slash commands, which a person types."""

from __future__ import annotations

import json
from pathlib import Path

from memlayer.briefing.listed_start import rules_in
from memlayer.edge.capture.spool import put_typed
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
WISH = "In every project, always push to main before you ask."


def test_a_model_remembers_in_its_own_name_and_changes_nothing(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "shop"
    project.mkdir()
    hook = HookRunner(ROOT, home, project)
    hook.forbid_background()
    with Daemon(ROOT, home):
        person, model = Cli(home, project), Cli(home, project)
        model.environment["CLAUDECODE"] = "1"
        own = json.loads(person("remember", "커밋 메시지는 항상 한국어로 쓴다", "--json").stdout)["memory"]["citation"]
        made = json.loads(model("remember", WISH, "--json").stdout)["memory"]
        assert made["project_id"] != "global"
        for words in (("edit", own, "always English"), ("forget", own, "--yes"), ("edit", "--pin", made["citation"])):
            done = model(*words)
            assert done.returncode == 1
            assert done.stderr.count("\n") == 1 and "only the person may" in done.stderr
        put_typed(str(home), "s1", "memory-remember", {"text": "항상 pnpm을 쓴다", "project_dir": str(project)})
        assert model("slash", "memory-remember", "s1").returncode == 0
        start = hook("session_start", "s2", source="startup").context
        assert "\n- 커밋 메시지는 항상 한국어로" in start and "\n- 항상 pnpm을" in start
        assert not any("In every project" in line for line in rules_in(start))
