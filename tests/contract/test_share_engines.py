"""The contract of a share's engines: a folder, refs of a git remote, a bucket of a scripted store.

What a share says through them is told once, over a folder (tests/integration/sharing); kills and long logs over each
are in tests/fault.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memlayer.errors import ShareError
from memlayer.records import git
from memlayer.sharing.engine import Engine, Layout
from memlayer.sharing.ledger import GONE, ROWS, SHARE, ObjectName
from memlayer.sharing.share import open_engine
from memlayer.team.places import TEAM
from tests.support.repositories import repository
from tests.support.shares import PLACES, ObjectStore, bucket_of, holding

A, B = "a" * 16, "0f" * 8
FIRST, SECOND, THIRD = (ObjectName.new(log, number, number).name for log, number in ((ROWS, 1), (GONE, 1), (ROWS, 2)))
SECRET = "새벽 3시에 부엉이가 우는 비밀 문장 zq81xv"
DATA = SECRET.encode() + bytes(range(256))  # no text, no line
NOTE = "0" * 32 + ".md"
Open = Callable[..., Engine]


@pytest.fixture(scope="module")
def object_store() -> Iterator[ObjectStore]:
    store = ObjectStore()
    yield store
    store.close()


@pytest.fixture(params=[*PLACES, "bucket"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param in PLACES:
        return PLACES[request.param](tmp_path)
    return bucket_of(request.getfixturevalue("object_store"), monkeypatch)


@pytest.fixture
def opened(address: str, tmp_path: Path) -> Open:
    """Open the place as a machine does, with a folder of its own."""

    def engine(machine: str, layout: Layout = SHARE) -> Engine:
        made = open_engine(address, str(tmp_path / ("own " + machine)), layout)
        made.refresh()
        return made

    return engine


def all_of(engine: Engine) -> dict[str, dict[str, bytes]]:
    """Every object that a machine sees."""
    engine.refresh()
    return {machine: dict(engine.read(machine, engine.names(machine))) for machine in engine.machines()}


def test_objects_come_to_the_other_machines_as_they_were(opened: Open) -> None:
    a, b = opened("a"), opened("b")
    assert (all_of(a), a.names(A), a.read(A, [FIRST])) == ({}, [], {})
    a.change(A, {FIRST: DATA, SECOND: b"gone"}, [])
    assert sorted(a.names(A)) == sorted([FIRST, SECOND]) and a.machines() == [A]
    assert all_of(b) == {A: {FIRST: DATA, SECOND: b"gone"}}
    assert b.read(A, [THIRD, FIRST]) == {FIRST: DATA}
    b.change(B, {FIRST: b"of b"}, [])
    a.change(A, {THIRD: b"third"}, [])  # without a look at what the other wrote meanwhile
    both = {A: {FIRST: DATA, SECOND: b"gone", THIRD: b"third"}, B: {FIRST: b"of b"}}
    assert all_of(a) == all_of(b) == all_of(opened("c")) == both


def test_removed_objects_leave_no_byte(opened: Open, tmp_path: Path) -> None:
    a, b = opened("a"), opened("b")
    a.change(A, {FIRST: DATA, SECOND: b"gone"}, [])
    assert all_of(b)[A][FIRST] == DATA
    a.change(A, {THIRD: b"merged"}, [FIRST, SECOND, "never there"])
    assert all_of(a) == all_of(b) == {A: {THIRD: b"merged"}}
    assert holding(SECRET, tmp_path / "own a", tmp_path / "own b") == []
    assert a.purge()
    assert holding(SECRET, tmp_path) == []
    a.change(A, {FIRST: b"again"}, [])
    assert all_of(b) == {A: {THIRD: b"merged", FIRST: b"again"}}


def test_a_machine_is_dropped_whole_and_alone(opened: Open, tmp_path: Path) -> None:
    a, b = opened("a"), opened("b")
    a.change(A, {FIRST: DATA, SECOND: b"gone"}, [])
    b.change(B, {FIRST: b"of b"}, [])
    b.refresh()
    b.drop(A)  # by the other
    assert (b.machines(), b.names(A), b.read(A, [FIRST])) == ([B], [], {})
    assert all_of(a) == all_of(b) == {B: {FIRST: b"of b"}}
    a.drop(A)  # gone already
    a.purge()
    assert holding(SECRET, tmp_path) == []
    a.change(A, {FIRST: b"anew"}, [])
    assert all_of(b) == {A: {FIRST: b"anew"}, B: {FIRST: b"of b"}}


def test_names_of_others_are_left_out(opened: Open) -> None:
    a, b = opened("a"), opened("b")
    others = {name: b"x" for name in ("notes.txt", FIRST + ".tmp", "rows.000000002-000000001.0000.00000000", NOTE)}
    a.change(A, {FIRST: DATA, **others}, [])
    a.change("Documents", {FIRST: b"x"}, [])
    assert all_of(b) == {A: {FIRST: DATA}}


def test_a_team_and_a_share_lie_apart(opened: Open) -> None:
    share, team = opened("a"), opened("a team", TEAM)
    share.change(A, {FIRST: DATA}, [])
    team.change(B, {NOTE: "# 결정".encode()}, [])
    assert all_of(share) == {A: {FIRST: DATA}}
    assert all_of(team) == {B: {NOTE: "# 결정".encode()}}


# -- each engine's own


@pytest.mark.parametrize("piece", [b"a", "가".encode()], ids=["a", "Korean"])
def test_long_object_is_read_up_to_a_limit(opened: Open, piece: bytes) -> None:
    a, b, short = opened("a", TEAM), opened("b", TEAM), "1" * 32 + ".md"
    a.change(A, {NOTE: piece * 200_000, short: b"short"}, [])
    b.refresh()
    assert b.read(A, [NOTE, short]) == {NOTE: (piece * 200_000)[: TEAM.max_bytes], short: b"short"}


@pytest.mark.parametrize("count", [1, 60])
def test_fetch_without_end_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """One long object, and many short ones."""
    address = PLACES["git"](tmp_path)
    a, b = (open_engine(address, str(tmp_path / ("own " + name))) for name in "ab")
    a.refresh()
    objects = {ObjectName.new(ROWS, at, at).name: os.urandom(3_000_000 // count) for at in range(1, count + 1)}
    a.change(A, objects, [])
    monkeypatch.setattr(git, "MOST_FETCHED", 1 << 20)
    with pytest.raises(ShareError, match="it holds more than memlayer reads") as told:
        b.refresh()
    assert "\n" not in str(told.value)
    kept = sum(path.stat().st_size for path in (tmp_path / "own b").rglob("*") if path.is_file())
    assert kept < 200_000 and b.machines() == []
    monkeypatch.undo()
    b.refresh()
    assert b.read(A, list(objects)) == objects


@pytest.mark.parametrize("words", [["cat-file", "blob"], ["log", "-1", "--format=%B"]])
def test_output_of_git_without_end_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    repo = repository(tmp_path / "가게")
    blob = git.run(["-C", str(repo), "hash-object", "-w", "--stdin"], limit_s=20, sent=b"x" * 300_000).stdout.decode()
    monkeypatch.setattr(git, "MOST_BYTES", 1 << 17)
    if words[0] == "log":
        person = ["-c", "user.name=k", "-c", "user.email=k@x"]
        message = ("긴 글 " * 99_999).encode()
        git.run(["-C", str(repo), *person, "commit", "--allow-empty", "-qF", "-"], limit_s=20, sent=message)
        blob = "HEAD"
    with pytest.raises(OSError, match="git gives more than"):
        git.run(["-C", str(repo), *words, blob.strip()], limit_s=20)


def test_a_folder_lies_as_older_versions_read_it(tmp_path: Path) -> None:
    """Links are not followed, and a half-written object is never there under its name."""
    address = PLACES["folder"](tmp_path)
    place = Path(address.removeprefix("file://"))
    engine = open_engine(address, str(tmp_path / "own"))
    engine.change(A, {FIRST: DATA}, [])
    assert [path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()] == [
        f"memlayer-share/{A}/{FIRST}"
    ]
    (place / "memlayer-share" / A / SECOND).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(DATA)
    assert engine.read(A, [FIRST, SECOND]) == {FIRST: DATA}
    shutil.rmtree(place)
    for ask in (engine.refresh, engine.check):
        with pytest.raises(ShareError, match="the folder is not there"):
            ask()


def test_a_git_ref_is_one_commit_that_its_writer_alone_moves(tmp_path: Path) -> None:
    address = PLACES["git"](tmp_path)
    remote = address.removeprefix("git+file://")

    def said(*words: str) -> list[str]:
        done = subprocess.run(["git", "-C", remote, *words], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    a, copy = (open_engine(address, str(tmp_path / name)) for name in ("own a", "own copy"))
    for engine in (a, copy):
        engine.refresh()
    for number in range(1, 4):
        a.change(A, {ObjectName.new(ROWS, number, number).name: b"%d" % number}, [])
    assert said("for-each-ref", "--format=%(refname)") == [f"refs/memlayer/{A}"]
    assert said("log", "--format=%an %ae %at", f"refs/memlayer/{A}") == ["memlayer memlayer@localhost 0"]
    with pytest.raises(ShareError, match="another machine has written under this machine's name"):
        copy.change(A, {FIRST: b"of a copied home"}, [])
    assert len(all_of(copy)[A]) == 3
    shutil.rmtree(remote)
    with pytest.raises(ShareError, match="it does not exist") as bad:
        a.refresh()
    assert "\n" not in str(bad.value)
    assert not open_engine("git@git.example:me/share.git", str(tmp_path / "own far")).purge()  # its owner's to do


def test_store_without_conditional_writes_is_refused_before_the_first_object(
    object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Takes long: the client of buckets asks ten times before it gives up."""
    engine = open_engine(bucket_of(object_store, monkeypatch), str(tmp_path / "own"))
    object_store.drops_condition = True
    with pytest.raises(ShareError, match="no conditional writes"):
        engine.check()
    object_store.status, object_store.drops_condition = 501, False
    with pytest.raises(ShareError, match="no conditional writes"):
        engine.check()
    assert not [request for request in object_store.requests if "machine_" in request and request.startswith("PUT")]
    object_store.status = 0
    engine.check()
    object_store.status = 403
    for ask in (engine.refresh, engine.check, lambda: engine.change(A, {FIRST: DATA}, [])):
        with pytest.raises(ShareError, match="the access is refused"):
            ask()
    object_store.status = 0
    engine.change(A, {FIRST: DATA}, [])
    assert all_of(engine) == {A: {FIRST: DATA}}
