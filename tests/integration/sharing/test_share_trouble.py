"""Shares in trouble: torn objects, restored homes, lost keys, places that are gone."""

import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from memlayer.edge.home import paths
from memlayer.errors import ShareError, UserError
from memlayer.sharing import sending
from memlayer.sharing import share as shares
from memlayer.sharing.seal import KEY_START, new_secret
from memlayer.sharing.share import FolderEngine
from tests.support.shared_homes import SharedHome, shared_homes
from tests.support.shares import contents, join, settle
from tests.support.tables import tables

SECRET = "새벽 3시에 부엉이가 우는 비밀 문장 zq81xv"
WRONG = tables("integration/sharing/share_trouble")["wrong"]
pytestmark = pytest.mark.timeout(120)


def test_half_written_object_is_waited_for_and_told(tmp_path: Path, place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.chat("a", 2, 1)
    join(place, a, b)
    [object_] = [path for path in tmp_path.rglob("rows.0*") if path.is_file()]
    whole = object_.read_bytes()
    object_.write_bytes(whole[: len(whole) // 2])
    done = b.sharing.pull()
    assert (done.events, done.behind) == (0, 1)
    assert "not whole" in b.sharing.state().behind_why
    object_.write_bytes(whole)
    assert b.sharing.pull().events == 4
    assert b.sharing.state().behind == 0


def test_forged_object_is_refused(tmp_path: Path, place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.chat("a", 2, 1)
    join(place, a, b)
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
        assert restored.sharing.state().renamed_ms > 0
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


@pytest.mark.parametrize("is_written", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("doing", ["rows", "merge", "tombstones", "erasure", "bridge"])
def test_a_writing_that_is_cut_off_is_undone(
    doing: str, is_written: bool, place: str, pair: list[SharedHome], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place took the objects or did not, and this home never learned of it."""
    a, b = pair
    a.say("s", 1, SECRET, "네")
    a.chat("a", 2, 1)
    join(place, a, b)
    b.sharing.pull()
    a.say("s", 50, "두 번째 커밋", "네")
    a.consolidate()
    if doing == "merge":
        monkeypatch.setattr(sending, "MERGE_AT", 1)
    if doing in ("tombstones", "erasure"):
        a.forget(a.turn_of("부엉이").id)
    if doing == "bridge":
        with a.sharing._open("test") as channel:
            channel.engine.change(channel.machine, {}, [row.name for row in channel.own() if row.log == "rows"])
    real, changes = FolderEngine.change, 1 if doing == "erasure" else 0

    def cut_off(self: FolderEngine, machine: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        nonlocal changes
        if changes or is_written:
            real(self, machine, add, remove)
        if not changes:
            raise KeyboardInterrupt
        changes -= 1

    monkeypatch.setattr(FolderEngine, "change", cut_off)
    with pytest.raises(KeyboardInterrupt):
        a.sharing.push()
    monkeypatch.setattr(FolderEngine, "change", real)
    name = a.sharing.share().machine
    b.sharing.pull()  # whatever lies there now
    settle(a, b)
    assert a.rows() == b.rows() and a.sharing.share().machine == name
    assert [home.sharing.push().commits for home in pair] == [0, 0]
    if doing not in ("tombstones", "erasure"):
        a.forget(a.turn_of("부엉이").id)
        settle(a, b)
    assert SECRET not in str([row for _, _, row in contents(a.sharing)])
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
    assert not state.has_key and "key of this share" in state.problem
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


def test_a_home_that_stopped_joins_again_with_its_key(tmp_path: Path, place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    a.chat("a", 2, 1)
    join(place, a, b)
    settle(a, b)
    secret, kept = a.sharing.key(), Path(paths.former_key(str(b.home)))
    b.sharing.stop()
    assert not Path(paths.share(str(b.home))).exists() and kept.stat().st_mode & 0o777 == 0o600
    a.say("s", 40, "그동안 한 말", "네")
    a.sharing.push()
    b.sharing.set_up(place)
    assert b.sharing.key() == secret and not kept.exists()
    settle(a, b)
    assert a.rows() == b.rows()
    b.sharing.stop()
    other = tmp_path / "other"
    other.mkdir()
    a.sharing.stop(is_deleting=True)
    a.sharing.set_up(f"file://{other}")  # a share of another key
    a.sharing.push()
    assert a.sharing.key() != secret
    with pytest.raises(UserError, match="in use already"):
        b.sharing.set_up(f"file://{other}")
    b.sharing.set_up(f"file://{other}", secret=a.sharing.key())
    assert b.sharing.state().has_key
    b.sharing.stop(is_deleting=True)
    assert not kept.exists()


def test_all_logs_of_a_home_that_stopped_and_joined_are_deleted(place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    b.say("s", 1, "비밀 회의는 목요일", "네")
    join(place, a, b)
    settle(a, b)
    logs = [b.sharing.share().machine]
    for number in range(2):
        b.sharing.stop()
        b.sharing.set_up(place)
        b.say("s", 10 + number, "further words %d" % number, "yes")
        settle(a, b)
        logs.append(b.sharing.share().machine)
    assert {machine for machine, _, _ in contents(a.sharing)} >= set(logs) - {a.sharing.share().machine}
    b.sharing.stop(is_deleting=True)
    assert not {machine for machine, _, _ in contents(a.sharing)} & set(logs)
    assert not Path(paths.former_share(str(b.home))).exists()


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


def test_place_that_is_gone_is_told_and_nothing_is_lost(tmp_path: Path, place: str, pair: list[SharedHome]) -> None:
    a, b = pair
    join(place, a, b)
    drive = Path(place.removeprefix("file://"))
    drive.rename(tmp_path / "away")
    a.chat("a", 2, 1)
    with pytest.raises(ShareError, match="drive may not be mounted"):
        a.sharing.push()
    state = a.sharing.state()
    assert state.to_send >= 8 and "mounted" in state.problem
    (tmp_path / "away").rename(drive)
    settle(a, b)
    assert a.rows() == b.rows() and a.sharing.state().problem == ""


def test_wrong_address_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with shared_homes(tmp_path, ["a"]) as [home]:
        for address, says in WRONG.items():
            with pytest.raises(UserError, match=says):
                home.sharing.set_up(address)
            assert shares.read_share(str(home.home)) is None


def test_record_and_key_are_for_the_person_alone(place: str, pair: list[SharedHome]) -> None:
    a, _ = pair
    a.sharing.set_up(place, is_plain=False)
    a.sharing.push()
    for name in ("share.json", "key", "ledger.sqlite"):
        assert (Path(paths.share(str(a.home))) / name).stat().st_mode & 0o777 == 0o600, name
    assert KEY_START not in json.dumps(a.sharing.state().fields())
    a.sharing.stop(is_deleting=True)
    assert not Path(paths.share(str(a.home))).exists()
    with pytest.raises(ShareError, match="nothing is shared"):
        a.sharing.push()
