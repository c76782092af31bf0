"""Homes that share memories over a folder, with real stores: the whole story once."""

import random
import subprocess
from pathlib import Path

import pytest

from memlayer.edge.home import paths
from memlayer.kinds import Category, Kind
from memlayer.model import CITED, Event, Memory, citation_of, memory_key, replace, usage_of
from memlayer.ports import MemoryQuery, Selection
from memlayer.records.sessions import Session
from memlayer.sharing.sending import MERGE_AT
from memlayer.topics.session_summary import summary_memory
from tests.support.shared_homes import AT_MS, SharedHome, shared_homes
from tests.support.shares import contents, git_address, holding, join, live_objects, settle

SECRET = "새벽 3시에 부엉이가 우는 비밀 문장 zq81xv"
LIVE_FILES = 20
pytestmark = pytest.mark.timeout(120)


def test_three_homes_with_80_events_each_become_equal(tmp_path: Path, place: str) -> None:
    with shared_homes(tmp_path, ["a", "b", "c"]) as homes:
        for seed, home in enumerate(homes):
            home.chat(home.home.name, 40, seed)
        said = {home.home.name: home.rows() for home in homes}
        join(place, *homes)
        dice = random.Random(7)
        for _ in range(12):
            home = dice.choice(homes)
            dice.choice([home.sharing.push, home.sharing.pull])()
        settle(*homes)
        rows = [home.rows() for home in homes]
        assert len(rows[0]["events"]) == 240
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


@pytest.mark.parametrize("is_late", [False, True], ids=["one object", "two objects"])
def test_a_summary_of_a_forgotten_turn_leaves_the_share(is_late: bool, place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.say("s", 1, SECRET, "알겠습니다.")
    a.say("s", 2, "배포는 언제?", "화요일입니다.")
    store, session = a.services.store, Session(id="s", project_id=next(iter(a.projects.known())))
    if is_late:
        join(place, a, b)
    store.put_memories([summary_memory(session, "질문: " + SECRET, store.events(session_id="s", limit=10))])
    if not is_late:
        join(place, a, b)
    settle(a, b)
    assert len([name for _, name, row in contents(a.sharing) if "질문: " in str(row)]) == 1
    a.forget(a.turn_of("부엉이").id)
    settle(a, b)
    assert [name for _, name, row in contents(a.sharing) if SECRET in str(row)] == []
    assert a.rows() == b.rows() and len(b.rows()["events"]) == 2


def test_a_row_that_was_sent_again_leaves_each_object(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    join(place, a, b)
    a.say("s", 1, SECRET, "알겠습니다.")
    a.sharing.push()
    a.consolidate()
    for _ in range(3):  # each push holds the memory anew
        turn = a.turn_of("부엉이")
        a.services.consolidator.pin(turn, not turn.pinned)
        a.sharing.push()
    assert len([name for _, name, row in contents(a.sharing) if SECRET in str(row)]) >= 4
    a.forget(a.turn_of("부엉이").id)
    settle(a, b)
    assert [name for _, name, row in contents(a.sharing) if SECRET in str(row)] == []
    assert a.sharing.state().to_erase == 0 and a.rows() == b.rows()


def test_a_row_whose_last_version_is_anothers_leaves_the_earlier_one(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    join(place, a, b)
    a.say("s", 1, "We decided that the owl " + SECRET + " is fed on Mondays.", "알겠습니다.")
    a.consolidate()
    settle(a, b)
    note = next(row for row in b.services.store.memories(MemoryQuery(category=Category.CORE)) if SECRET in row.text)
    b.services.consolidator.pin(note, True)
    settle(a, b)
    plan = a.services.forget.plan(Selection(memory_ids=(note.id,)), keep_sources=True)
    a.services.forget.forget(plan)
    settle(a, b)
    assert note.id not in str([row for _, _, row in contents(a.sharing) if not row.gone])
    assert [home.sharing.push().commits for home in pair] == [0, 0] and a.rows() == b.rows()


def test_a_machine_that_was_away_brings_nothing_forgotten_back(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    b.say("s", 1, SECRET, "알겠습니다.")
    join(place, a, b)
    settle(a, b)
    gone = a.turn_of("부엉이").id
    a.forget(gone)
    a.sharing.push()
    for number in range(MERGE_AT + 2):  # a year of work, in which the log is merged
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


def test_change_that_waits_here_outlives_an_older_one_of_a_busy_machine(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.chat("a", 4, 1)
    join(place, a, b)
    settle(a, b)
    for is_pinned in (True, False, True):  # each commit raises the clock of `a` alone
        a.services.consolidator.pin(a.turn_of("(a1)"), is_pinned)
        a.sharing.push()
    b.services.keep.write([replace(b.turn_of("(a1)"), importance=0.93)])
    for home in (b, a):
        home.sharing.sync()
    assert [home.turn_of("(a1)").importance for home in pair] == [0.93, 0.93]
    assert a.rows() == b.rows()


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
            c.sharing.taking.all(channel)
            assert machine
        assert c.sharing.state().waiting_uses == 1
        c.sharing.pull()
        assert c.sharing.state().waiting_uses == 0
        assert len(c.rows()["usages"]) == 1


def test_tasks_travel_and_are_made_on_each_machine(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.say("s", 1, "할 일: 배포 문서 고치기", "적어 두었습니다.")
    a.consolidate()
    join(place, a, b)
    settle(a, b)
    mine, theirs = a.services.tasks.known.all(), b.services.tasks.known.all()
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
    assert (done.events, done.skipped_lines) == (6, 0)
    a.say("s", 50, "새 종류", "네")
    monkeypatch.setattr(
        sending, "line_of", lambda row: {"feeling": {"id": row.id}} if isinstance(row, Event) else real(row)
    )  # type: ignore[arg-type]
    a.sharing.push()
    done = b.sharing.pull()
    assert done.skipped_lines == 2 and done.behind == 0
    assert b.sharing.push().events == 0


def test_many_sessions_make_a_commit_each_and_few_objects(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    join(place, a, b)
    commits = []
    for number in range(LIVE_FILES + 4):
        a.say("s%d" % number, number, "질문 %d: which port?" % number, "port %d" % (8000 + number))
        commits.append(a.sharing.push().commits)
        if number % 10 == 3:
            b.sharing.pull()
    assert set(commits) == {1}
    assert len(live_objects(a.sharing, a.sharing.share().machine)) <= LIVE_FILES
    b.sharing.pull()
    assert a.rows() == b.rows()


def test_rewriting_leaves_no_earlier_byte_and_no_doubled_row(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.say("s", 1, SECRET, "알겠습니다.")
    a.chat("a", 10, 1)
    join(place, a, b)
    settle(a, b)
    before, former = b.rows(), a.sharing.share().machine
    done, is_purged = a.sharing.rewrite()
    assert is_purged and (done.events, done.objects) == (22, 2)  # rows, tombstones
    assert {machine for machine, _, _ in contents(a.sharing)} == {a.sharing.share().machine, b.sharing.share().machine}
    assert a.sharing.share().machine != former and former in a.sharing.share().former
    settle(a, b)
    assert a.rows() == b.rows() == before
    assert [home.sharing.push().commits for home in pair] == [0, 0]
    assert b.sharing.pull().commits == 0


def test_rewriting_clears_a_repository_on_this_machine(tmp_path: Path, pair: list[SharedHome]) -> None:
    a, b = pair
    remote = tmp_path / "remote.git"
    join(git_address(tmp_path), a, b, encrypted=False)
    for number in range(6):
        a.say("s", number, "%d번째 질문" % number, "네 %d" % number)
        a.sharing.push()

    def commits() -> int:
        listed = subprocess.run(
            ["git", "-C", str(remote), "cat-file", "--batch-all-objects", "--batch-check"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return listed.stdout.count(" commit ")

    assert commits() > 2
    a.sharing.rewrite()
    b.sharing.push()
    a.sharing.rewrite()
    assert commits() == 2  # one a machine
