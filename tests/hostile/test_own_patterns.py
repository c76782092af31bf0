"""Patterns of the person's own: slow ones are refused, the rest is taken out by hook and daemon alike."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.config import load_settings, load_what_holds
from memlayer.config.privacy import PrivacySettings, literal_of
from memlayer.edge.home import paths
from memlayer.edge.redaction.own_patterns import MARK, MAX_PATTERNS, OWN, use_file
from memlayer.edge.redaction.privacy import redact, redact_ends
from memlayer.errors import UserError
from tests.conftest import ROOT
from tests.support.processes import Daemon, HookRunner

KEY = "ACME-0123456789ABCDEF"
PATTERN = r"\bACME-[0-9A-F]{16}\b"
SLOW = [
    r"ACME(a+)+$", r"ACME(a|a)*b", r"ACME(a|aa)+$", r"ACME(.*)*x", r"ACME(?:\w{1,30}){1,30}!", r"ACME\w+\d+\w+!",
    r"ACME\s*\s*\s*\s*x", r"ACME([a-z]{0,50}[a-z]{0,50}){2}!", r"ACME.*", r"ACME(?=a+)b", r"ACME(a)\1{3}",
    r"ACME(?<!b)c", r"ACME(?:x?){40}y", r"ACME[a-z]{9,9999}", r"사번-(?:[가-힣]+)+끝",
    r"(?i)ACME-[a-f]{8}", r"ACME(?i:-[a-f]{8})",
    r"ACME((((a{1,9}){1,9}){1,9}){1,9})", r"ACME(?:a{300}){3}",
]  # fmt: skip
MALFORMED = ["ACME(", "ACME[", "ACME{2,1}", "*ACME", "ACME\\", "ACME(?P<n>a)(?P<n>b)", "ACME-" + "a" * 300]
WITHOUT_START = ["", "AB[0-9]{4}", ".ACME", "(?:ACME|BCME)-[0-9]{8}", "[0-9]{16}", "사번[0-9]{4}"]
GOOD = [
    PATTERN, r"ACME-[0-9A-F]{8}-[0-9A-F]{8}", r"acme_(?:live|test)_\w{20,64}", r"사번-\d{6,8}", r"고객번호[: ]?\d{10}",
    r"ACME\.key=.{8,64}", r"INT-(?:\d{4}-){3}\d{4}",
]  # fmt: skip


@pytest.fixture(autouse=True)
def without_patterns() -> Iterator[None]:
    yield
    OWN.use(())


@pytest.mark.parametrize("pattern", SLOW)
def test_slow_pattern_is_refused_at_once(pattern: str) -> None:
    started = time.perf_counter()
    with pytest.raises(ValueError, match=r"could be slow|flags") as refused:
        literal_of(pattern)
    assert time.perf_counter() - started < 1.0
    assert "ACME(" not in str(refused.value)  # not repeated: it may be a secret


@pytest.mark.parametrize("pattern", MALFORMED)
def test_malformed_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"malformed|longer|fixed characters"):
        literal_of(pattern)


@pytest.mark.parametrize("pattern", WITHOUT_START)
def test_pattern_without_fixed_start_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="at least 3 fixed characters"):
        literal_of(pattern)


def test_pattern_of_its_own_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="must not match"):
        literal_of(r"redacted:[a-z]{3}")


@pytest.mark.parametrize("pattern", GOOD)
def test_worst_text_costs_little(pattern: str) -> None:
    """400,000 characters that begin the pattern again and again, or fail at its end."""
    literal = literal_of(pattern)
    OWN.use([(literal, pattern)])
    for text in (literal * (400_000 // len(literal)), (literal + "a1F" * 30 + "\n") * 4_000, literal[:-1] * 100_000):
        started = time.perf_counter()
        OWN.hide(text[:400_000])
        assert time.perf_counter() - started < 1.0


def test_taken_out_once_and_for_all() -> None:
    OWN.use(PrivacySettings(extra_patterns=(PATTERN, r"사번-\d{6,8}")).pairs)
    said = redact(f"키는 {KEY}이고 {KEY}, 사번-1234567 입니다. ACME-회사는 그대로")
    assert said == f"키는 {KEY}이고 {MARK}, {MARK} 입니다. ACME-회사는 그대로" or KEY not in said
    assert redact(said) == said
    head, tail = redact_ends("가" * 900 + " " + KEY + " " + "나" * 300_000, 905, 100, 1_000)
    assert "ACME-0" not in head + tail


def test_only_the_users_file_counts(home: Path, project: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    environ = {"MEMLAYER_PRIVACY__EXTRA_PATTERNS": '["ACME-[0-9]{8}"]'}
    assert load_settings(str(home), environ).privacy.extra_patterns == ()
    (home / "config.yaml").write_text(json.dumps({"privacy": {"extra_patterns": ["ACME(a+)+$"]}}))
    with pytest.raises(UserError, match=r"privacy.extra_patterns: .*could be slow"):
        load_settings(str(home), {})
    many = ["ACM%d-[0-9]{4}" % number for number in range(MAX_PATTERNS + 1)]
    (home / "config.yaml").write_text(json.dumps({"privacy": {"extra_patterns": many}}))
    with pytest.raises(UserError, match="At most 16"):
        load_settings(str(home), {})


def test_one_mistake_leaves_the_others_in_force(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(json.dumps({"privacy": {"extra_patterns": [PATTERN, "ACME(a+)+$", 7]}}))
    held, problem = load_what_holds(str(home), {})
    assert held.privacy.extra_patterns == (PATTERN,) and "privacy.extra_patterns" in problem


def test_foreign_or_odd_file_is_not_read(tmp_path: Path) -> None:
    use_file(str(tmp_path / "none"))
    os.mkfifo(tmp_path / "pipe")
    use_file(str(tmp_path / "pipe"))
    assert OWN.hide(KEY) == KEY
    for text in (
        "7",
        "[",
        "[1]",
        "[[]]",
        "[" * 5_000,
        '[["ACME", "ACME("]]',
        "\xff",
        '[["a", "b"]' + ', ["a", "b"]' * 16,
    ):
        (tmp_path / "file").write_text(text, encoding="latin-1")
        with pytest.raises(ValueError, match="run `memlayer daemon restart`"):
            use_file(str(tmp_path / "file"))
    assert OWN.hide(KEY) == KEY


def test_hook_and_daemon_take_them_out(hook: HookRunner, home: Path) -> None:
    settings = {"embedding": {"provider": "none"}, "privacy": {"extra_patterns": [r"ACME-[0-9A-F]{16}"]}}
    hook.forbid_background()
    with Daemon(ROOT, home, settings) as daemon:
        file = Path(paths.own_patterns(str(home)))
        assert file.stat().st_mode & 0o777 == 0o600
        hook.turn("s1", "p1", f"운영 키는 {KEY} 야, 기억해 줘", f"네, {KEY} 입니다.")
        daemon.settle()
        assert daemon.call("stats")["redacted"] == {"own": 2}
    hook.turn("s1", "p2", f"다시, 운영 키는 {KEY} 야", f"네, {KEY} 입니다.")  # nobody listens
    spooled = [event["text"] for event in hook.spooled]
    assert len(spooled) == 2 and all(MARK in text and KEY not in text for text in spooled)
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert KEY.encode() not in kept
    with Daemon(ROOT, home):  # without the setting
        assert not file.exists()
