"""Teams of projects: promoted notes out, colleagues' in as evidence."""

import getpass
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from memlayer.edge.home import project, registry
from memlayer.errors import ShareError, UserError
from memlayer.keep.keep import Keep
from memlayer.kinds import Ended
from memlayer.memory_files.folders import digest_of
from memlayer.model import GLOBAL, Memory, replace, team_session
from memlayer.ports import MemoryQuery, memories_by_id
from memlayer.records.projects import Projects, git_setting
from memlayer.sharing.engine import shown
from memlayer.team.note import Refused, TeamNote, id_of, name_of, promoted, read_note
from memlayer.team.places import (
    IN_ORIGIN,
    IN_WORK_TREE,
    MAX_OF_AUTHOR,
    PARTS,
    NoteFile,
    Team,
    TeamPlace,
    WorkTree,
    end_team,
    folder_of,
    open_place,
    projects_with_team,
    read_files,
    read_team,
    resolved,
    write_team,
)
from memlayer.wire.sharing import LeftOut, TeamPulled, TeamPushed, TeamState

NO_TEAM = "this project has no team. `memlayer team setup` begins one, `memlayer team accept` takes its notes in"
EVERYTHING = 10_000


@dataclass
class Teams:
    """The teams of one home. Thread-safe.

    in_writer: runs a job in the thread that writes the store. on_taken: called where notes came or went.
    """

    home: str
    keep: Keep
    projects: Projects
    in_writer: Callable[[str, Callable[[], Any]], Any] = lambda name, job: job()
    on_taken: Callable[[], object] = lambda: None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def set_up(self, project_id: str, address: str, author: str = "", *, by_hand: bool = False) -> None:
        """Begin or join a team, and take its notes in.

        address: "" for the notes that came with the repository, or lie in its remote. Raises UserError, ShareError.
        """
        root = self.projects.root(project_id)
        with self._lock:
            address = resolved(address or self._offered_at(project_id), root)
            inner = os.path.realpath(os.path.join(root, PARTS[0]))
            if address == IN_WORK_TREE and inner == os.path.realpath(self.home):
                raise UserError("this folder's .memlayer is memlayer's own home. Give the address of a place")
            if address != IN_WORK_TREE and not self._keys(project_id):
                raise UserError("this project has no remote and no commit, which would tell its notes from others'")
            before = read_team(self.home, project_id)
            if before is not None and before.address != address:
                raise UserError("this project has a team elsewhere. `memlayer team leave` ends that first")
            read_files(self._place(project_id, address))  # one that cannot be reached changes nothing
            team = before or Team(address, "", is_automatic=True)
            name = author or team.author or git_setting(project.locate(root).git_dir, "user.name") or _user()
            write_team(self.home, project_id, replace(team, author=name_of(name), is_automatic=not by_hand))
            self.sync(project_id)

    def leave(self, project_id: str, *, keeps: bool = False) -> str:
        """End a team here: own notes back, colleagues' out. Return its address.

        keeps: own notes stay at the place, for one that cannot be reached any more. Raises ShareError.
        """
        with self._lock:
            with self._opened(project_id) as team:
                team.promoted.clear()
                if not keeps:
                    self._push(project_id, team, self._place(project_id, team.address))
                self.in_writer("leave a team", lambda: self.keep.erase_lent(self._held(project_id)))
            end_team(self.home, project_id)
        self.on_taken()
        return shown(team.address)

    def promote(self, memory: Memory, *, is_undone: bool = False) -> None:
        """Have an own note travel, or no more. Raises UserError."""
        if memory.project_id == GLOBAL:
            raise UserError(f"{memory.key} holds for every project; a team belongs to one")
        with self._lock, self._opened(memory.project_id) as team:
            others = [id_ for id_ in team.promoted if id_ != memory.id]
            if is_undone and memory.id not in team.promoted:
                raise UserError(f"{memory.key} is not promoted")
            if not is_undone:
                if len(others) >= MAX_OF_AUTHOR:
                    raise UserError(
                        f"{MAX_OF_AUTHOR} notes are promoted. `memlayer team promote --undo ID` frees a place"
                    )
                # Said again, it is written again, whatever became of it.
                team.written.pop(promoted(memory, team.author, "").file_name, None)
                others.append(memory.id)
            team.promoted = others

    def sync(self, project_id: str, *, pulls: bool = True) -> tuple[TeamPushed, TeamPulled]:
        """Send promoted notes, take others back, take colleagues' in. Raises ShareError."""
        with self._lock, self._opened(project_id) as team:
            place = self._place(project_id, team.address)
            pushed = self._push(project_id, team, place)
            pulled = self._pull(project_id, team, place) if pulls else TeamPulled()
        if pulled.new or pulled.gone:
            self.on_taken()
        return pushed, pulled

    def sync_all(self) -> None:
        """Sync all teams that are automatic. Raises the last ShareError."""
        failed: list[ShareError] = []
        for project_id in projects_with_team(self.home):
            try:
                team = read_team(self.home, project_id)
                if team is not None and team.is_automatic:
                    self.sync(project_id)
            except ShareError as bad:  # the others go on
                failed.append(bad)
        if failed:
            raise failed[-1]

    def state(self, project_id: str, root: str = "") -> TeamState:
        """Return the team and numbers; asks no server. Raises ShareError.

        root: of a folder whose project may not be known yet.
        """
        team = read_team(self.home, project_id) if project_id else None
        if team is None:
            return TeamState(offered=self._offered(root or self.projects.root(project_id)))
        holding = len(list(self._own(project_id, team)))
        return TeamState.of(
            team, address=shown(team.address), name=team.author, offered=0, promoted=holding,
            withheld=len(team.promoted) - holding, left_out=_listed(team.left_out),
        )  # fmt: skip

    # -- out

    def _push(self, project_id: str, team: Team, place: TeamPlace) -> TeamPushed:
        files = {note.file_name: note.to_file() for note in self._own(project_id, team)}
        there, is_reviewed = set(place.names(team.writer)), team.address == IN_WORK_TREE
        # In a work tree a note is written once: reviewers may change it or take it out, branches lack it.
        add = {
            name: data
            for name, data in files.items()
            if team.written.get(name) != digest_of(data) or (name not in there and not is_reviewed)
        }
        gone = [name for name in (team.written if is_reviewed else there) if name not in files and name in there]
        if add or not there.issubset(gone):
            place.change(team.writer, add, gone)
        elif gone:
            place.drop(team.writer)
        team.written.update({name: digest_of(data) for name, data in add.items()})
        team.push_ms = int(time.time() * 1000)
        return TeamPushed(notes=len(add), withdrawn=len(gone))

    def _own(self, project_id: str, team: Team) -> Iterator[TeamNote]:
        """Yield the promoted notes that still hold; others are taken back."""
        keys = self._keys(project_id)
        for row in memories_by_id(self.keep.store, team.promoted).values():
            if not row.holds:
                continue
            try:
                yield promoted(row, team.author, keys[0] if keys else "")
            except UserError:  # it was edited, and is too long now: counted as withheld
                continue

    # -- in

    def _pull(self, project_id: str, team: Team, place: TeamPlace) -> TeamPulled:
        left_out: Counter[str] = Counter()
        notes = list(self._read(project_id, team, read_files(place), left_out))
        done: TeamPulled = self.in_writer("notes of a team " + project_id, lambda: self._take(project_id, notes))
        team.notes, team.left_out, team.pull_ms = done.notes, dict(left_out), int(time.time() * 1000)
        team.authors = sorted({note.author for _, note in notes})
        return done.changed(left_out=_listed(left_out))

    def _read(
        self, project_id: str, team: Team, found: Sequence[NoteFile], left_out: Counter[str]
    ) -> Iterator[tuple[str, TeamNote]]:
        """Yield colleagues' notes on this project, with whose objects hold them."""
        own = {*memories_by_id(self.keep.store, (id_of(name) for _, name, _ in found))}
        own |= {*map(id_of, team.written), *team.promoted}
        for writer, name, data in found:
            if writer == team.writer or id_of(name) in own:
                continue
            try:
                note = read_note(name, data)
            except Refused as bad:
                left_out[str(bad)] += 1
                continue
            if not writer or note.project in self._keys(project_id):  # else of another project at the same place
                yield writer, note

    def _take(self, project_id: str, notes: Sequence[tuple[str, TeamNote]]) -> TeamPulled:
        """Bring the store in step. The writer's job."""
        now_ms, held = int(time.time() * 1000), {row.id: row for row in self._held(project_id)}
        rows = [note.memory(project_id, writer, now_ms) for writer, note in notes]
        wanted = {row.id: row for row in rows if row.id in held or not self.keep.is_forgotten(row)}
        gone = [held.pop(id_) for id_ in {*held} - {*wanted}]
        fresh = self.keep.renew(wanted.values(), held.values(), Ended.GONE, now_ms)
        self.keep.erase_lent(gone)
        return TeamPulled(notes=len(wanted), new=len(fresh), gone=len(gone))

    def _held(self, project_id: str) -> list[Memory]:
        return self.keep.store.memories(MemoryQuery(session_id=team_session(project_id), limit=EVERYTHING))

    # -- where

    @contextmanager
    def _opened(self, project_id: str) -> Iterator[Team]:
        """Enclose work on a team; its record tells a failure. Raises ShareError."""
        team = read_team(self.home, project_id)
        if team is None:
            raise ShareError(NO_TEAM)
        try:
            yield team
            team.problem = ""
        except ShareError as bad:
            team.problem, team.problem_ms = str(bad), int(time.time() * 1000)
            raise
        finally:
            write_team(self.home, project_id, team)

    def _place(self, project_id: str, address: str) -> TeamPlace:
        own_folder = os.path.join(folder_of(self.home, project_id), "engine")
        return open_place(address, self.projects.root(project_id), own_folder)

    def _offered_at(self, project_id: str) -> str:
        """Return where a repository's notes are. Raises UserError for none."""
        root = self.projects.root(project_id)
        if self._offered(root):
            return IN_WORK_TREE
        address = resolved(IN_ORIGIN, root)
        if not read_files(self._place(project_id, address)):
            raise UserError("this project brings no notes of a team. `memlayer team setup` begins one")
        return address

    @staticmethod
    def _offered(root: str) -> int:
        """Count the notes in a work tree."""
        return len(WorkTree(root).names("")) if os.path.isdir(root) else 0

    def _keys(self, project_id: str) -> list[str]:
        """Return the project's keys on every machine, its remote first."""
        keys = self.projects.known().get(project_id, {}).get("keys", [])
        return [str(key) for prefix in registry.IDENTITY for key in keys if str(key).startswith(prefix)]


def _listed(left_out: Mapping[str, int]) -> list[LeftOut]:
    return [LeftOut(why=why, notes=count) for why, count in sorted(left_out.items())]


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no user of this number is known
        return ""
