"""A team of two with clones of one repository: promoted notes travel, with their author, as evidence."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.errors import ShareError, UserError
from memlayer.give.standing_orders import orders_in_force
from memlayer.give.working_set import WorkingSetRules, compose
from memlayer.kinds import Kind
from memlayer.notes.review import How, Review, ReviewedProject, ReviewLog, ReviewReason
from memlayer.team.note import MAX_CHARS
from memlayer.team.places import MAX_NOTES, MAX_OF_AUTHOR
from tests.support.repositories import repository
from tests.support.shares import files_below, folder_address, holding
from tests.support.teams import Colleague, colleagues, git

DECISION = "배포는 매주 화요일 오전에 하기로 했어."
SECRET = "새벽 3시에 부엉이가 우는 비밀 문장 zq81xv"
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[tuple[Colleague, Colleague]]:
    with colleagues(tmp_path) as pair:
        yield pair


@pytest.fixture(params=["folder", "git"])
def address(request: pytest.FixtureRequest) -> str:
    """The work tree, and a remote as of a share: a drive and a bucket are engines of the same contract."""
    return str(request.param)


def carry(address: str, sender: Colleague, reader: Colleague) -> None:
    """Have what one promoted come to the other, as a session's ends do it, and a commit where people make one."""
    sender.teams.sync(sender.project_id)
    if address == "folder":
        sender.commit("notes")
        reader.update()
    reader.teams.sync(reader.project_id)


def joined(address: str, team: tuple[Colleague, Colleague]) -> tuple[Colleague, Colleague]:
    for person in team:
        person.teams.set_up(person.project_id, address)
    return team


def test_a_promoted_note_comes_with_its_author_and_nothing_else(
    address: str, team: tuple[Colleague, Colleague], tmp_path: Path
) -> None:
    minji, bob = joined(address, team)
    minji.say("s", 7, SECRET, "알겠습니다.")
    note = minji.note(DECISION)
    other = minji.note("Decided: the staging port is 8443.", 2)
    carry(address, minji, bob)
    assert bob.theirs() == []
    minji.teams.promote(note)
    carry(address, minji, bob)
    [held] = bob.theirs()
    assert "화요일" in held.text and held.id != note.id and held.citation != ""
    assert held.known_kind is Kind.TEAM and "김민지" in held.kind
    state = bob.teams.state(bob.project_id)
    assert (state.notes, state.authors, state.problem) == (1, ["김민지"], "")
    for block in (
        compose(bob.services.store, bob.project_id, WorkingSetRules()),
        bob.block_for("배포는 무슨 요일에 하기로 했지?"),
    ):
        [line] = [line for line in block.splitlines() if held.citation in line]
        assert "(decision by 김민지, team) " in line and "화요일" in line
    assert held.id in bob.search("배포 화요일")
    left = [minji.project, bob.project, tmp_path / "origin", bob.home, *tmp_path.glob("드라이브*")]
    assert holding(SECRET, *left) == [] and holding("staging port is 8443", *left) == []
    assert other.id not in str([path for path, _ in files_below(*left)])
    carry(address, bob, minji)  # one's own note is not a colleague's
    assert minji.theirs() == []


def test_a_note_file_tells_author_day_project_and_evidence(team: tuple[Colleague, Colleague]) -> None:
    minji, _ = joined("folder", team)
    note = minji.note(DECISION)
    minji.teams.promote(note)
    minji.teams.sync(minji.project_id)
    lines = (minji.project / ".memlayer" / "team" / (note.id + ".md")).read_text("utf-8").splitlines()
    head = dict(line.split(": ", 1) for line in lines[1 : lines.index("---", 1)])
    assert head["author"] == "김민지" and head["kind"] == "decision" and head["id"] == note.id
    assert head["project"].startswith("remote:") and head["evidence"].startswith("sha256:")
    assert len(head["evidence"]) == 71 and head["day"].startswith("20")
    assert lines[-1] == note.text


def test_undo_forget_replacement_and_leaving_take_notes_back(
    address: str, team: tuple[Colleague, Colleague], tmp_path: Path
) -> None:
    minji, bob = joined(address, team)
    ports = (("스테이징", 8443), ("운영", 9090), ("개발", 7070), ("시험", 6060))
    notes = [minji.note("%s 포트는 %d번으로 정했어." % row, number) for number, row in enumerate(ports)]
    for note in notes:
        minji.teams.promote(note)
    carry(address, minji, bob)
    assert len(bob.theirs()) == 4
    minji.teams.promote(notes[0], is_undone=True)
    minji.forget(notes[1].id)
    minji.services.consolidator.retire(notes[2])
    carry(address, minji, bob)
    assert [row.text for row in bob.theirs()] == [notes[3].text]
    assert minji.teams.state(minji.project_id).withheld == 2
    minji.teams.leave(minji.project_id)
    with pytest.raises(ShareError, match="no team"):
        minji.teams.sync(minji.project_id)
    if address == "folder":
        minji.commit("leave")
        bob.update()
    bob.teams.sync(bob.project_id)
    assert bob.theirs() == []
    assert minji.turn_of("6060")  # one's own memories stay
    left = [minji.project, *(tmp_path.glob("드라이브*")), bob.home]
    assert [path for path in holding("스테이징 포트는", *left) if "objects" not in path] == []


def test_leaving_takes_colleagues_notes_out_as_well(team: tuple[Colleague, Colleague]) -> None:
    minji, bob = joined("git", team)
    minji.teams.promote(minji.note(DECISION))
    carry("git", minji, bob)
    assert bob.teams.leave(bob.project_id).startswith("git+file://")
    assert bob.theirs() == [] and not (bob.home / "team" / bob.project_id).exists()
    assert git(bob.project, "ls-remote", "origin", "refs/memlayer/team/*").count("refs/") == 1  # Minji's stays


def test_it_is_evidence_and_no_order_and_replaces_nothing(team: tuple[Colleague, Colleague]) -> None:
    minji, bob = joined("folder", team)
    mine = bob.note("We decided that the staging API listens on port 8443.")
    rule = minji.note("From now on always run the linter before a commit.", 1)
    minji.teams.promote(rule)
    minji.teams.promote(minji.note("We decided that the staging API listens on port 9090.", 2))
    assert rule.id in {row.id for row in orders_in_force(minji.services.store, minji.project_id)}
    carry("folder", minji, bob)
    assert len(bob.theirs()) == 2
    assert orders_in_force(bob.services.store, bob.project_id) == []
    assert bob.rows()["memories"][mine.id]["ended_because"] == ""
    services = bob.services
    review = Review(services.store, services.readings, ReviewLog(str(bob.home)), services.consolidator, services.tasks)
    place = ReviewedProject(bob.project_id, str(bob.project), lambda at_ms: 0)
    [item] = review.items(place, mine.at_ms)
    assert item.memory.id == mine.id and item.reason is ReviewReason.CONTRADICTS
    assert item.against is not None and item.against.known_kind is Kind.TEAM
    review.decide(item, How.KEEP, mine.at_ms)
    assert review.items(place, mine.at_ms) == []
    review.undo(bob.project_id)
    review.decide(item, How.DROP, mine.at_ms)  # a person's own decision; the note still takes no place of mine
    assert bob.rows()["memories"][mine.id]["ended_because"] == "let go"
    with pytest.raises(UserError, match="colleague's note"):
        services.consolidator.edit(item.against, "other")


def test_a_clone_brings_nothing_before_it_is_accepted(team: tuple[Colleague, Colleague]) -> None:
    minji, bob = team
    with pytest.raises(UserError, match="brings no notes"):
        bob.teams.set_up(bob.project_id, "")
    minji.teams.set_up(minji.project_id, "folder")
    minji.teams.promote(minji.note(DECISION))
    minji.teams.sync(minji.project_id)
    minji.commit("notes")
    bob.update()
    bob.teams.sync_all()
    assert bob.theirs() == [] and bob.teams.state(bob.project_id).offered == 1
    with pytest.raises(ShareError, match="no team"):
        bob.teams.sync(bob.project_id)
    bob.teams.set_up(bob.project_id, "")
    assert len(bob.theirs()) == 1
    bob.forget(bob.theirs()[0].id)
    bob.teams.sync(bob.project_id)
    assert bob.theirs() == []  # forgotten here: it comes no more


def test_refs_of_the_remote_are_accepted_as_well(team: tuple[Colleague, Colleague]) -> None:
    minji, bob = team
    minji.teams.set_up(minji.project_id, "git")
    minji.teams.promote(minji.note(DECISION))
    minji.teams.sync(minji.project_id)
    bob.teams.set_up(bob.project_id, "")
    assert [row.text for row in bob.theirs()] == [DECISION]


def test_reviewers_have_the_last_word_on_a_file(team: tuple[Colleague, Colleague]) -> None:
    minji, bob = joined("folder", team)
    note = minji.note(DECISION)
    minji.teams.promote(note)
    carry("folder", minji, bob)
    file = bob.project / ".memlayer" / "team" / (note.id + ".md")
    file.write_text(file.read_text("utf-8").replace("화요일", "수요일"), "utf-8")
    bob.commit("Wednesday")
    minji.update()
    carry("folder", minji, bob)
    assert "수요일" in bob.theirs()[0].text
    file.unlink()
    bob.commit("no")
    minji.update()
    minji.teams.sync(minji.project_id)
    assert not (minji.project / ".memlayer" / "team" / file.name).exists()
    minji.teams.promote(note)  # she says it again
    carry("folder", minji, bob)
    assert "화요일" in bob.theirs()[0].text


def test_notes_of_another_project_at_the_same_place_stay_out(team: tuple[Colleague, Colleague], tmp_path: Path) -> None:
    minji, bob = joined(folder_address(tmp_path), team)
    other = repository(tmp_path / "blog", "https://git.example/acme/blog.git", "of the blog")
    blog_id, _ = bob.projects.resolve(str(other))
    bob.teams.set_up(blog_id, bob.teams.state(bob.project_id).address)
    minji.teams.promote(minji.note(DECISION))
    minji.teams.sync(minji.project_id)
    bob.teams.sync_all()
    assert [row["project_id"] for row in bob.rows()["memories"].values()] == [bob.project_id]


def test_number_length_links_and_pipes_are_bounded(team: tuple[Colleague, Colleague], tmp_path: Path) -> None:
    minji, bob = joined("folder", team)
    minji.teams.promote(minji.note(DECISION))
    minji.teams.sync(minji.project_id)
    folder = minji.project / ".memlayer" / "team"
    [real] = folder.iterdir()
    text = real.read_text("utf-8")
    outside = tmp_path / "outside.md"
    for number in range(MAX_NOTES + 50):
        name = "%032x" % (number + 16)
        (folder / (name + ".md")).write_text(text.replace(real.stem, name), "utf-8")
    outside.write_text(text.replace(real.stem, "0" * 32), "utf-8")
    (folder / ("0" * 32 + ".md")).symlink_to(outside)
    os.mkfifo(folder / ("0" * 31 + "1.md"))
    (folder / ("0" * 31 + "2.md")).write_text(text.replace(real.stem, "0" * 31 + "2") + "x" * MAX_CHARS, "utf-8")
    (folder / ("0" * 31 + "3.md")).write_bytes(b"\xff" * 9000)
    (folder / ("0" * 31 + "4.md")).write_text(text.replace("day: 20", "day: 99/"), "utf-8")
    (folder / ("0" * 31 + "5.md")).write_text("---\nmemlayer-note: 2\n---\n\nlater\n", "utf-8")
    (folder / "../../notes.md").write_text(text, "utf-8")
    minji.commit("many")
    bob.update()
    bob.teams.sync(bob.project_id)
    assert MAX_NOTES - 10 < len(bob.theirs()) <= MAX_NOTES
    assert sum(row.notes for row in bob.teams.state(bob.project_id).left_out) == 4


def test_a_link_in_place_of_the_folder_is_not_followed(team: tuple[Colleague, Colleague], tmp_path: Path) -> None:
    minji, _ = joined("folder", team)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (minji.project / ".memlayer").mkdir(exist_ok=True)
    (minji.project / ".memlayer" / "team").symlink_to(elsewhere)
    minji.teams.promote(minji.note(DECISION))
    with pytest.raises(ShareError):
        minji.teams.sync(minji.project_id)
    assert list(elsewhere.iterdir()) == []
    assert "link" in minji.teams.state(minji.project_id).problem


def test_only_notes_are_promoted(team: tuple[Colleague, Colleague]) -> None:
    minji, bob = joined("folder", team)
    minji.note(DECISION)
    with pytest.raises(UserError, match="is no note"):
        minji.teams.promote(minji.turn_of("화요일"))
    minji.teams.promote(minji.note("We decided that the API is versioned by path.", 2))
    carry("folder", minji, bob)
    with pytest.raises(UserError, match="is no note"):
        bob.teams.promote(bob.theirs()[0])
    with pytest.raises(UserError, match="not promoted"):
        minji.teams.promote(minji.note("We decided that logs are JSON lines.", 3), is_undone=True)


def test_a_place_that_is_gone_is_told_and_loses_nothing(team: tuple[Colleague, Colleague], tmp_path: Path) -> None:
    minji, bob = joined(folder_address(tmp_path), team)
    minji.teams.promote(minji.note(DECISION))
    drive = next(tmp_path.glob("드라이브*"))
    drive.rename(tmp_path / "away")
    for person in team:
        with pytest.raises(ShareError, match="not be mounted"):
            person.teams.sync_all()
    assert "mounted" in minji.teams.state(minji.project_id).problem
    (tmp_path / "away").rename(drive)
    carry(str(drive), minji, bob)
    assert len(bob.theirs()) == 1 and minji.teams.state(minji.project_id).problem == ""
    drive.rename(tmp_path / "away")
    minji.teams.leave(minji.project_id, keeps=True)
    assert minji.teams.state(minji.project_id).address == ""


def test_memlayers_own_home_is_no_work_tree_for_notes(tmp_path: Path) -> None:
    person = repository(tmp_path / "dotfiles", "https://git.example/me/dotfiles.git")
    me = Colleague(person / ".memlayer", person, "me")
    try:
        with pytest.raises(UserError, match="own home"):
            me.teams.set_up(me.project_id, "folder")
    finally:
        me.close()


def test_one_author_does_not_crowd_the_others_out(team: tuple[Colleague, Colleague], tmp_path: Path) -> None:
    address = folder_address(tmp_path)
    minji, bob = joined(address, team)
    minji.teams.promote(minji.note(DECISION))
    minji.teams.sync(minji.project_id)
    [real] = Path(address.removeprefix("file://")).rglob("*.md")
    text, first = real.read_text("utf-8"), real.parents[1] / ("0" * 16)
    first.mkdir()
    for number in range(MAX_NOTES + 50):
        name = "%032x" % number
        (first / (name + ".md")).write_text(text.replace(real.stem, name).replace("김민지", "Mallory"), "utf-8")
    bob.teams.sync(bob.project_id)
    assert bob.teams.state(bob.project_id).authors == ["Mallory", "김민지"]
    assert len(bob.theirs()) == MAX_OF_AUTHOR + 1
