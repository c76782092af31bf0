"""The daily budget of a language model: counted before the call, by local day, kept over restarts and crashes."""

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.cli.verbs.overview import say_language_model
from memlayer.edge.home import paths
from memlayer.records.model_budget import KEPT_DAYS, MAX_ANSWER_TOKENS, ModelBudget, Reserved
from memlayer.wire.notes import ModelUse, Spent
from tests.support.tables import tables

DAY_S = 86_400
NOON = 1_795_000_000.0


def budget(home: Path, *, calls: int = 3, tokens: int = 10_000, at: float = NOON) -> ModelBudget:
    return ModelBudget(paths.model_use(str(home)), daily_calls=calls, daily_tokens=tokens, clock=lambda: at)


def counts(found: ModelBudget) -> tuple[int, int, int, int]:
    said = found.summary()
    return said.today.calls, said.today.tokens, said.all.calls, said.all.tokens


def test_calls_run_out_and_come_back_the_next_day(home: Path) -> None:
    today = budget(home)
    for _ in range(3):
        reserved = today.reserve(100)
        assert reserved is not None
        today.settle(reserved, 150, 0.001)
    assert today.reserve(100) is None
    assert today.summary().is_over
    assert counts(today) == (3, 450, 3, 450)
    tomorrow = budget(home, at=NOON + DAY_S)
    assert not tomorrow.summary().is_over
    assert tomorrow.reserve(100) is not None
    assert counts(tomorrow) == (1, 100, 4, 550)
    assert tomorrow.summary().all.cost_usd == pytest.approx(0.003)


def test_a_call_that_would_go_over_the_tokens_is_not_made(home: Path) -> None:
    today = budget(home, tokens=1000)
    reserved = today.reserve(600)
    assert reserved is not None
    assert today.reserve(600) is None
    today.settle(reserved, 300)
    assert today.reserve(600) is not None


def test_nothing_may_be_spent_when_a_limit_is_0(home: Path) -> None:
    assert budget(home, calls=0).reserve(1) is None
    assert budget(home, tokens=0).reserve(1) is None
    assert not home.exists()


def test_a_call_is_on_disk_before_it_is_made(home: Path) -> None:
    assert budget(home).reserve(100) is not None
    assert counts(budget(home)) == (1, 100, 1, 100)  # another process, after a crash


def test_what_was_not_sent_is_given_back(home: Path) -> None:
    today = budget(home)
    reserved = today.reserve(100)
    assert reserved is not None
    today.give_back(reserved)
    assert counts(today) == (0, 0, 0, 0)


def test_a_call_over_midnight_counts_for_the_day_it_was_made_on(home: Path) -> None:
    reserved = budget(home).reserve(100)
    assert reserved is not None
    after = budget(home, at=NOON + DAY_S)
    after.settle(reserved, 5000)
    assert counts(after) == (0, 0, 1, 5000)


def test_a_clock_that_goes_back_over_midnight_gives_no_day_a_second_budget(home: Path) -> None:
    made = 0
    for day in (0, -1, 0, -1, 0, 1, 0, 2, -1):
        today = budget(home, calls=5, at=NOON + day * DAY_S)
        while today.reserve(10) is not None:
            made += 1
        assert counts(today)[:2] == (5, 50) and today.summary().is_over
    assert made == 4 * 5 == counts(today)[2]


def test_a_time_zone_that_goes_back_over_midnight_gives_no_second_budget(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0
    try:
        for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago", "Pacific/Kiritimati", "Pacific/Pago_Pago"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            while budget(home, calls=5).reserve(10) is not None:
                made += 1
        assert made == 2 * 5
    finally:
        monkeypatch.undo()
        time.tzset()


def test_only_the_days_that_were_used_last_are_kept(home: Path) -> None:
    for day in range(30):
        reserved = budget(home, at=NOON + day * DAY_S).reserve(10)
        assert reserved is not None
        budget(home, at=NOON + day * DAY_S).note("nothing")
    kept = json.loads(Path(paths.model_use(str(home))).read_text())["days"]
    assert len(kept) == KEPT_DAYS and counts(budget(home, at=NOON + 29 * DAY_S)) == (1, 10, 30, 300)
    late = budget(home, at=NOON + 30 * DAY_S)
    late.settle(Reserved("2020-01-01", 10), 500)  # of a day that nobody knows any more
    assert counts(late)[3] == 790


def test_the_day_is_over_when_no_answer_fits_any_more(home: Path) -> None:
    today = budget(home, tokens=10_000)
    assert today.reserve(10_000 - MAX_ANSWER_TOKENS) is not None
    assert not today.summary().is_over
    assert today.reserve(1) is not None
    assert today.summary().is_over


@pytest.mark.parametrize("tokens", [0, -5, 10**18])
def test_senseless_usage_does_not_lower_the_count(home: Path, tokens: int) -> None:
    today = budget(home)
    reserved = today.reserve(100)
    assert reserved is not None
    today.settle(reserved, tokens, float("nan"))
    assert counts(today)[1] >= 100
    assert today.summary().today.cost_usd == 0


def test_the_file_is_private_and_whole(home: Path) -> None:
    os.umask(0o022)
    budget(home).reserve(100)
    path = Path(paths.model_use(str(home)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in home.iterdir()] == [path.name]
    json.loads(path.read_text())


@pytest.mark.parametrize(
    "broken",
    [
        "", "[]", "{", '{"day": 7, "today": [], "all": null}', "\x00\xff", "[" * 100_000,
        '{"all": {"calls": -3, "tokens": "x", "cost_usd": 1e999}, "problem": 5, "problem_ms": null}',
        '{"days": [1]}', '{"days": {"2026-11-18": 7, "": {}, "x": {"calls": "y"}}}',
    ],
)  # fmt: skip
def test_a_broken_file_counts_from_nothing(home: Path, broken: str) -> None:
    home.mkdir()
    Path(paths.model_use(str(home))).write_text(broken, encoding="latin-1")
    today = budget(home)
    assert counts(today) == (0, 0, 0, 0)
    assert today.reserve(10) is not None
    assert counts(today) == (1, 10, 1, 10)


def test_what_cannot_be_written_down_is_not_spent(tmp_path: Path) -> None:
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("")
    assert ModelBudget(paths.model_use(str(in_the_way)), daily_calls=9, daily_tokens=9999).reserve(10) is None


def test_a_problem_is_kept_as_one_line_until_a_call_succeeds(home: Path) -> None:
    today = budget(home)
    today.note("claude-cli: \n" + "왜 " * 500)
    said = today.summary()
    assert said.problem.startswith("claude-cli: 왜 왜") and len(said.problem) <= 200
    assert said.problem_ms == int(NOON * 1000)
    reserved = today.reserve(10)
    assert reserved is not None
    today.settle(reserved, 10)
    assert today.summary().problem == ""


@pytest.mark.parametrize(("told", "part"), tables("records/model_budget")["stats_prints_what_was_spent"])
def test_stats_prints_what_was_spent(told: dict[str, Any], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = ModelUse(
        is_on=True, provider="openai", model="한 모델", reads="session", today=Spent(2, 1500),
        all=Spent(7, 20_000, 0.00251), daily_calls=3, daily_tokens=10_000,
    )  # fmt: skip
    say_language_model(known.changed(**told))
    printed = capsys.readouterr().out
    assert part in printed and "0.0025 USD" in printed
    say_language_model(ModelUse())
    assert capsys.readouterr().out == ""


SPENDING = """
import sys
sys.path.insert(0, %r)
from memlayer.records.model_budget import ModelBudget
budget = ModelBudget(%r, daily_tokens=%d)
made = 0
for _ in range(40):
    reserved = budget.reserve(10)
    if reserved is not None:
        budget.settle(reserved, 7)
        made += 1
print(made)
"""


def test_processes_share_a_budget(home: Path) -> None:
    """Each reads, adds and writes the whole file: without a lock they overwrite each other's counts."""
    home.mkdir()
    path = paths.agent_use(str(home))
    code = SPENDING % (str(Path(__file__).resolve().parents[3]), path, 500)
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    made = sum(int(one.communicate(timeout=50)[0]) for one in running)
    found = ModelBudget(path, daily_tokens=500).summary()
    assert found.today.tokens == made * 7
    assert 500 - 10 < found.today.tokens <= 500
    assert os.listdir(home) == ["agent_use.json"]


def test_calls_without_a_limit(home: Path) -> None:
    free = ModelBudget(paths.agent_use(str(home)), daily_tokens=100_000)
    assert all(free.reserve(1) for _ in range(20))
    assert not free.summary().is_over
