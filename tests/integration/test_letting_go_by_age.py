"""Retention through a real daemon.

An expired turn leaves no byte and does not come back; learnt statements stay.
"""

import json
import os
import time
from pathlib import Path

from tests.support.processes import HookRunner
from tests.support.told_story import DECIDED, LEARNT, NO_MODEL, ROOT, Story


def test_retention_keeps_learnt_statements(story: Story) -> None:
    story.say(2, *DECIDED)
    story.daemon.settle()
    learnt = story.core_of(LEARNT)
    assert {mark for _, mark in story.holds("올빼미쪽지", "두루미")} == {"올빼미쪽지", "두루미"}

    assert json.loads(story.cli("doctor", "gc", "--json").stdout)["rows"] == []  # no retention is set
    story.with_retention(conversation_days=90, daily_days=90)
    dry = json.loads(story.cli("doctor", "gc", "--dry-run", "--json").stdout)
    rows = {(row["project"], row["kind"]): row["rows"] for row in dry["rows"]}
    assert rows[("secret 프로젝트", "conversation")] == 3 and ("other", "conversation") not in rows
    assert dry["removed"]["events"] == 0 and story.turns() == 4

    table = story.cli("doctor", "gc").stdout
    assert "Kept: conversation 90 days, daily 90 days" in table and "3 turns  secret 프로젝트" in table
    assert story.turns() == 1
    assert story.holds("올빼미쪽지", "이야기끝올빼미") == []
    assert story.core_of(LEARNT) == learnt
    shown = story.cli("show", learnt["citation"]).stdout
    assert "source removed by retention on " + time.strftime("%Y-%m-%d") in shown
    assert LEARNT in story.daemon.call("search", query="게이트웨이 포트")["hits"][0]["snippet"]

    # Neither the transcript, nor an import, nor a rebuild, nor another daemon brings the turns back.
    inside = HookRunner(ROOT, story.home, story.project, python=story.hook.python)
    assert inside("session_start", "gone", source="resume", transcript_path=str(story.transcript)).returncode == 0
    assert story.cli("import", str(story.transcript)).returncode == 0
    assert story.cli("doctor", "repair").returncode == 0
    story.daemon.call("reindex")
    story.daemon.settle()
    assert story.turns() == 1 and story.holds("올빼미쪽지", "이야기끝올빼미") == []
    assert story.daemon.call("gc")["removed"]["memories"] == 0


def test_daemon_applies_retention_daily(story: Story) -> None:
    story.daemon.stop()
    story.daemon.settings = {**NO_MODEL, "retention": {"conversation_days": 30}}
    (story.home / "gc.stamp").touch()
    os.utime(story.home / "gc.stamp", (time.time() - 90_000, time.time() - 90_000))
    story.daemon.start()
    story.daemon.wait_for(lambda: story.turns() == 1, "retention")
    stamp = (story.home / "gc.stamp").stat().st_mtime
    assert time.time() - stamp < 60
    story.say(2, *DECIDED)  # from before; nobody looks again today
    story.daemon.settle()
    assert story.turns() == 2
    day_ago = time.time() - 90_000
    os.utime(story.home / "gc.stamp", (day_ago, day_ago))
    story.daemon.wait_for(lambda: story.turns() == 1, "retention on the next day", 50.0)


def test_core_retention_spares_turns(story: Story) -> None:
    story.say(2, *DECIDED)
    story.daemon.settle()
    learnt = story.core_of(LEARNT)
    story.with_retention(core_days=30)
    story.daemon.call("gc")
    assert story.turns() == 4
    assert learnt["id"] not in {one["id"] for one in story.daemon.call("list", category="core")["memories"]}


def test_import_keeps_retired_rows_out(story: Story, tmp_path: Path) -> None:
    story.say(2, *DECIDED)
    story.daemon.settle()
    learnt = story.core_of(LEARNT)
    export = tmp_path / "all.jsonl"
    assert story.cli("export", str(export)).returncode == 0
    story.with_retention(conversation_days=30, daily_days=30, core_days=30)
    story.daemon.call("gc")
    story.assert_gone()
    assert story.cli("import", str(export)).returncode == 0
    story.daemon.settle()
    story.assert_gone()
    assert learnt["id"] not in str(story.daemon.call("list", all=True)) and story.holds(LEARNT) == []
