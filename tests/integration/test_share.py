"""Homes that share memories: over a folder and over git, with real stores."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.edge.home import paths
from memlayer.errors import ShareError, UserError
from memlayer.kinds import Category, Kind
from memlayer.model import CITED, Event, Memory, citation_of, memory_key, usage_of
from memlayer.sharing import share as shares
from memlayer.sharing.seal import KEY_START, new_secret
from tests.support.shared_homes import AT_MS, SharedHome, shared_homes
from tests.support.shares import PLACES, contents, holding, live_objects

SECRET = "새벽 3시에 부엉이가 우는 비밀 문장 zq81xv"
pytestmark = pytest.mark.timeout(120)


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return PLACES[request.param](tmp_path)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[list[SharedHome]]:
    with shared_homes(tmp_path, ["a", "b"]) as homes:
        yield homes


def join(address: str, *homes: SharedHome, encrypted: bool = True) -> None:
    """Set up a share, and carry its key to the others."""
    first, *others = homes
    first.sharing.set_up(address, name=first.home.name, is_plain=not encrypted)
    first.sharing.push()
    secret = first.sharing.key() if encrypted else ""
    for home in others:
        home.sharing.set_up(address, secret=secret, name=home.home.name, is_plain=not encrypted)


def settle(*homes: SharedHome) -> None:
    """Push and pull until nothing moves."""
    for _ in range(2):
        for home in homes:
            home.sharing.push()
        for home in homes:
            home.sharing.pull()


def test_three_homes_with_200_events_each_become_equal(tmp_path: Path, place: str) -> None:
    with shared_homes(tmp_path, ["a", "b", "c"]) as homes:
        for seed, home in enumerate(homes):
            home.chat(home.home.name, 100, seed)
        said = {home.home.name: home.rows() for home in homes}
        join(place, *homes)
        dice = random.Random(7)
        for _ in range(12):
            home = dice.choice(homes)
            dice.choice([home.sharing.push, home.sharing.pull])()
        settle(*homes)
        rows = [home.rows() for home in homes]
        assert len(rows[0]["events"]) == 600
        assert rows[0] == rows[1] == rows[2]
        for before in said.values():  # nothing that was said is lost, or was changed on its way
            assert before["events"].items() <= rows[0]["events"].items()
        questions = [f"API port {n}{i}" for n in "abc" for i in range(9)] + [
            f"배포 {n}{i}" for n in "abc" for i in range(8)
        ]
        assert len(questions) > 50
        for question in questions:
            assert homes[0].search(question) == homes[1].search(question) == homes[2].search(question), question
        again = [home.sharing.push() for home in homes]
        assert [done.commits for done in again] == [0, 0, 0]


def test_no_plaintext_of_a_known_sentence_leaves(tmp_path: Path, place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.say("s", 1, SECRET, "알겠습니다. " + SECRET)
    join(place, a, b)
    settle(a, b)
    assert SECRET in b.turn_of("부엉이").text
    left = [folder for folder in tmp_path.iterdir() if folder not in (a.home, b.home, a.project)]
    assert left and holding(SECRET, *left) == []
    assert holding(SECRET, Path(paths.share(str(a.home))), Path(paths.share(str(b.home)))) == []
    assert holding("acme/shop", *left) == []


def test_forget_travels_and_its_bytes_are_nowhere(tmp_path: Path, place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.say("s", 1, SECRET, "알겠습니다.")
    a.chat("a", 5, 1)
    join(place, a, b)
    settle(a, b)
    b.forget(b.turn_of("부엉이").id)  # by the machine that did not write it
    b.sharing.push()
    done = a.sharing.pull()
    assert done.erased >= 2
    b.sharing.pull()
    assert [name for _, name, row in contents(a.sharing) if SECRET in str(row)] == []
    assert [name for _, name, row in contents(b.sharing) if SECRET in str(row)] == []
    for home in (a, b):
        assert home.rows()["events"].keys() == a.rows()["events"].keys()
    assert len(a.rows()["events"]) == 10
    assert holding(SECRET, tmp_path) == []


def test_a_machine_that_was_away_brings_nothing_forgotten_back(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    b.say("s", 1, SECRET, "알겠습니다.")
    join(place, a, b)
    settle(a, b)
    gone = a.turn_of("부엉이").id
    a.forget(gone)
    a.sharing.push()
    for number in range(20):  # a year of work, in which the log is merged
        a.say("later", 100 + number, "계속하자 %d" % number, "네 %d" % number)
        a.sharing.push()
    pushed = b.sharing.push()  # it comes back: its first word is a push
    assert pushed.erased >= 2
    settle(a, b)
    for home in (a, b):
        assert gone not in home.rows()["memories"]
        assert all(SECRET not in str(row) for row in home.rows()["events"].values())
    assert all(SECRET not in str(row) for _, _, row in contents(a.sharing))


def test_forgotten_before_it_ever_came_stays_out(place: str, tmp_path: Path) -> None:
    with shared_homes(tmp_path, ["a", "b", "c"]) as (a, b, c):
        a.say("s", 1, SECRET, "알겠습니다.")
        join(place, a, b, c)
        b.sharing.pull()
        b.forget(b.turn_of("부엉이").id)
        b.sharing.push()
        done = c.sharing.pull()  # the writer of the row has not looked yet: it is in its objects
        assert (done.events, done.memories) == (0, 0) and done.forgotten >= 2
        assert c.rows()["events"] == {}


def test_changes_of_a_memory_travel_and_the_later_holds(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.chat("a", 4, 1)
    join(place, a, b)
    settle(a, b)
    consolidator = a.services.consolidator
    turn = a.turn_of("(a1)")
    consolidator.pin(turn, True)
    settle(a, b)
    assert b.turn_of("(a1)").pinned
    b.services.consolidator.pin(b.turn_of("(a1)"), False)
    settle(a, b)
    assert not a.turn_of("(a1)").pinned
    # Both at once: neither is lost on its way, and both homes hold the same.
    consolidator.pin(a.turn_of("(a2)"), True)
    b.services.consolidator.pin(b.turn_of("(a3)"), True)
    consolidator.pin(a.turn_of("(a1)"), True)
    settle(a, b)
    assert a.rows() == b.rows()
    assert all(a.turn_of("(a%d)" % number).pinned for number in (1, 2, 3))


def test_use_of_a_memory_that_comes_later_is_kept(place: str, tmp_path: Path) -> None:
    with shared_homes(tmp_path, ["a", "b", "c"]) as (a, b, c):
        a.chat("a", 2, 1)
        join(place, a, b, c)
        b.sharing.pull()
        memory = b.turn_of("(a0)")
        b.services.store.put_usages([usage_of(memory, CITED, session_id="s9", prompt_id="p", at_ms=AT_MS)])
        b.sharing.push()
        with c.sharing._open("test") as channel:  # the object of `a` is late, as a slow drive has it
            engine = channel.engine
            machine = a.sharing.share().machine
            engine.machines = lambda: [b.sharing.share().machine]  # type: ignore[method-assign]
            from memlayer.sharing.taking import Pulled

            c.sharing.taking.rows(channel, Pulled())
            assert machine
        assert c.sharing.state()["waiting_uses"] == 1
        c.sharing.pull()
        assert c.sharing.state()["waiting_uses"] == 0
        assert len(c.rows()["usages"]) == 1


def test_tasks_travel_and_are_made_on_each_machine(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.say("s", 1, "할 일: 배포 문서 고치기", "적어 두었습니다.")
    a.consolidate()
    join(place, a, b)
    settle(a, b)
    mine, theirs = a.services.tasks.graph.tasks(), b.services.tasks.graph.tasks()
    assert [task.id for task in mine] == [task.id for task in theirs] and len(mine) == 1
    assert a.rows() == b.rows()


def test_pieces_of_files_and_vectors_stay(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.chat("a", 1, 1)
    project_id = next(iter(a.projects.known()))
    piece_id = "ab" * 16
    piece = Memory(
        piece_id, memory_key(Category.CUSTOM, piece_id, AT_MS), citation_of(piece_id), Category.CUSTOM, "notes.md:1-3",
        "내 문서의 한 조각", 0.4, project_id, "file_1", "", (), AT_MS,
    )  # fmt: skip
    assert piece.known_kind is Kind.PIECE
    a.services.store.put_memories([piece])
    join(place, a, b)
    settle(a, b)
    assert piece_id not in b.rows()["memories"]
    assert all("한 조각" not in str(row) and "vector" not in str(row) for _, _, row in contents(a.sharing))


def test_other_lines_of_a_newer_version_do_no_harm(
    place: str, pair: list[SharedHome], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    a.chat("a", 3, 1)
    from memlayer.sharing import sending

    real = sending.line_of

    def newer(row: object) -> dict[str, object]:
        line = real(row)  # type: ignore[arg-type]
        return {name: {**fields, "mood": "기쁨"} for name, fields in line.items()}

    monkeypatch.setattr(sending, "line_of", newer)
    join(place, a, b)
    done = b.sharing.pull()
    assert (done.events, done.skipped) == (6, 0)
    a.say("s", 50, "새 종류", "네")
    monkeypatch.setattr(
        sending, "line_of", lambda row: {"feeling": {"id": row.id}} if isinstance(row, Event) else real(row)
    )  # type: ignore[arg-type]
    a.sharing.push()
    done = b.sharing.pull()
    assert done.skipped == 2 and done.behind == 0
    assert b.sharing.push().events == 0


def test_many_sessions_make_a_commit_each_and_few_objects(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    join(place, a, b)
    commits = []
    for number in range(40):
        a.say("s%d" % number, number, "질문 %d: which port?" % number, "port %d" % (8000 + number))
        commits.append(a.sharing.push().commits)
        if number % 10 == 3:
            b.sharing.pull()
    assert set(commits) == {1}
    assert len(live_objects(a.sharing, a.sharing.share().machine)) <= 20
    b.sharing.pull()
    assert a.rows() == b.rows()


# -- trouble


def test_half_written_object_is_waited_for_and_told(tmp_path: Path, pair: list[SharedHome]) -> None:
    a, b = pair
    address = PLACES["folder"](tmp_path)
    a.chat("a", 2, 1)
    join(address, a, b)
    [object_] = [path for path in tmp_path.rglob("rows.0*") if path.is_file()]
    whole = object_.read_bytes()
    object_.write_bytes(whole[: len(whole) // 2])
    done = b.sharing.pull()
    assert (done.events, done.behind) == (0, 1)
    assert "not whole" in b.sharing.state()["behind_why"]
    object_.write_bytes(whole)
    assert b.sharing.pull().events == 4
    assert b.sharing.state()["behind"] == 0


def test_forged_object_is_refused(tmp_path: Path, pair: list[SharedHome]) -> None:
    a, b = pair
    address = PLACES["folder"](tmp_path)
    a.chat("a", 2, 1)
    join(address, a, b)
    [object_] = [path for path in tmp_path.rglob("rows.0*") if path.is_file()]
    other = object_.parent.parent / ("0f" * 8)
    other.mkdir()
    shutil.copy(object_, other / object_.name)  # under another machine's name
    object_.write_bytes(object_.read_bytes()[:-1] + b"x")
    done = b.sharing.pull()
    assert (done.events, done.behind) == (0, 2)


def test_restored_home_takes_a_new_name_and_gets_everything_back(
    tmp_path: Path, place: str, pair: list[SharedHome]
) -> None:
    a, b = pair
    a.chat("a", 2, 1)
    join(place, a, b)
    settle(a, b)
    backup = tmp_path / "backup"
    a.close()
    shutil.copytree(a.home, backup)
    a = SharedHome(a.home, a.project)
    a.say("s", 70, "백업 뒤에 한 말", "네, 포트는 7007.")
    a.sharing.push()
    a.close()
    restored = SharedHome(backup, a.project)
    try:
        name = restored.sharing.share().machine
        restored.say("s", 71, "복원 뒤에 한 말", "네, 포트는 7117.")
        settle(restored, b)
        assert restored.sharing.share().machine != name
        assert restored.sharing.share().former == (name,)
        assert restored.sharing.state()["renamed_ms"] > 0
        assert "7007" in restored.turn_of("백업 뒤").text
        assert restored.rows() == b.rows()
        # The first home goes on under its own name: two machines with one name are two after a push.
        a = SharedHome(a.home, a.project)
        settle(a, restored, b)
        assert a.sharing.share().machine == name
        assert a.rows() == b.rows() == restored.rows()
    finally:
        restored.close()
        a.close()


def test_objects_that_somebody_removed_are_sent_again(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.chat("a", 2, 1)
    join(place, a, b)
    a.say("s", 30, "두 번째 커밋", "네")
    a.sharing.push()
    with a.sharing._open("test") as channel:
        channel.engine.drop(a.sharing.share().machine)
    a.sharing.push()
    settle(a, b)
    assert a.rows() == b.rows() and len(b.rows()["events"]) == 6


def test_lost_key_stops_the_share_and_nothing_else(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.chat("a", 2, 1)
    join(place, a, b)
    secret = a.sharing.key()
    (Path(paths.share(str(a.home))) / "key").unlink()
    with pytest.raises(ShareError, match="memlayer share key"):
        a.sharing.push()
    state = a.sharing.state()
    assert not state["has_key"] and "key of this share" in state["problem"]
    a.sharing.set_up(place, secret=secret)
    a.say("s", 30, "다시", "네")
    assert a.sharing.push().events == 2


def test_share_in_use_asks_for_its_key(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.sharing.set_up(place, is_plain=False)
    a.sharing.push()
    with pytest.raises(UserError, match="in use already"):
        b.sharing.set_up(place, is_plain=False)
    with pytest.raises(UserError, match="not the key of this share"):
        b.sharing.set_up(place, secret=new_secret())
    assert shares.read_share(str(b.home)) is None
    with pytest.raises(UserError, match="is not encrypted"):
        b.sharing.set_up(place, is_plain=True)


def test_machine_that_is_gone_is_taken_over(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.say("s", 1, SECRET, "네")
    join(place, a, b)
    b.sharing.pull()
    gone = a.sharing.share().machine
    assert b.sharing.drop_machine("a") == gone
    assert {machine for machine, _, _ in contents(b.sharing)} == {b.sharing.share().machine}
    assert any(SECRET in str(row) for _, _, row in contents(b.sharing))
    b.forget(b.turn_of("부엉이").id)
    b.sharing.push()
    assert all(SECRET not in str(row) for _, _, row in contents(b.sharing))


def test_place_that_is_gone_is_told_in_one_line(tmp_path: Path, pair: list[SharedHome]) -> None:
    a, _ = pair
    address = PLACES["folder"](tmp_path)
    a.sharing.set_up(address)
    a.sharing.push()
    shutil.rmtree(address.removeprefix("file://"))
    a.chat("a", 2, 1)
    with pytest.raises(ShareError, match="drive may not be mounted"):
        a.sharing.push()
    state = a.sharing.state()
    assert state["to_send"] >= 8 and "mounted" in state["problem"]
    remote = PLACES["git"](tmp_path)
    b = pair[1]
    b.sharing.set_up(remote)
    shutil.rmtree(remote.removeprefix("git+file://"))
    with pytest.raises(ShareError, match="it does not exist"):
        b.sharing.push()


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("ftp://x/y", "is not known"), ("--upload-pack=touch /tmp/x", "no address"), ("ext::sh -c id", "is no address"),
        ("relative/folder", "is no address"), ("file:///nowhere/at/all", "the folder is not there"),
        ("git+file:///nowhere.git", "does not exist"),
    ],
)  # fmt: skip
def test_wrong_address_is_refused_before_anything_is_written(address: str, says: str, pair: list[SharedHome]) -> None:
    with pytest.raises(UserError, match=says):
        pair[0].sharing.set_up(address)
    assert shares.read_share(str(pair[0].home)) is None


def test_record_and_key_are_for_the_person_alone(place: str, pair: list[SharedHome]) -> None:
    a, _ = pair
    a.sharing.set_up(place, is_plain=False)
    a.sharing.push()
    for name in ("share.json", "key", "ledger.sqlite"):
        assert (Path(paths.share(str(a.home))) / name).stat().st_mode & 0o777 == 0o600, name
    assert KEY_START not in json.dumps(a.sharing.state())
    a.sharing.stop(is_deleting=True)
    assert not Path(paths.share(str(a.home))).exists()
    with pytest.raises(ShareError, match="nothing is shared"):
        a.sharing.push()
