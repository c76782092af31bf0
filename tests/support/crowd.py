"""Many sessions at once through the real hook scripts.

Also measurements of the daemon meanwhile.
"""

import os
import random
import threading
import time
from pathlib import Path
from typing import NamedTuple

from tests.support.witness import Witness

TOPICS = ("결제 모듈", "order events", "배포 파이프라인", "search index", "알림 서비스", "rate limiter", "회원 테이블")
THINGS = ("ClickHouse", "포트 %d", "a timeout of %d s", "handler_%d.py", "버전 %d", "queue %d")


def turn_texts(session: str, number: int) -> tuple[str, str]:
    """A prompt and an answer, different for every turn."""
    dice = random.Random("%s %d" % (session, number))
    topic, thing = dice.choice(TOPICS), dice.choice(THINGS)
    thing = thing % number if "%d" in thing else thing
    asked = "%s에 대해 무엇을 정했지? (%s, %d)" % (topic, session, number)
    return asked, "We decided: the %s uses %s; 담당은 팀 %d, case %s %d." % (topic, thing, number % 17, session, number)


class Crowd:
    """Sessions in threads, spread over the projects by turns.

    Each takes `turns` turns.
    """

    def __init__(
        self, witness: Witness, projects: list[Path], sessions: int, turns: int, *, prefix: str = "s",
        think_s: float = 0.0,
    ) -> None:  # fmt: skip
        self.witness, self.projects, self.sessions, self.turns = witness, projects, sessions, turns
        self.prefix, self.think_s = prefix, think_s
        self.prompt_s: list[float] = []
        self.answered = self.turns_done = 0
        self.errors: list[BaseException] = []
        self._lock = threading.Lock()

    def run(self) -> None:
        """Until every session has ended."""
        threads = [threading.Thread(target=self._guarded, args=(number,)) for number in range(self.sessions)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _guarded(self, number: int) -> None:
        try:
            self._session("%s%d" % (self.prefix, number), self.projects[number % len(self.projects)])
        except BaseException as bad:
            self.errors.append(bad)

    def _session(self, session: str, project: Path) -> None:
        self.witness.call("session_start", project, session)
        for number in range(self.turns):
            asked, answer = turn_texts(session, number)
            prompt_id = "%s-%d" % (session, number)
            called = self.witness.call("user_prompt_submit", project, session, prompt_id, asked)
            self.witness.call("stop", project, session, prompt_id, answer)
            with self._lock:
                self.prompt_s.append(called.took_s)
                self.answered += bool(called.stdout)
                self.turns_done += 1
            time.sleep(self.think_s)
        self.witness.call("session_end", project, session)


class Gauge(NamedTuple):
    """The daemon at a moment.

    versions, fragments: of the table that has most.
    """

    turns: int
    pid: int
    rss_bytes: int
    fds: int
    threads: int
    versions: int
    fragments: int

    def __str__(self) -> str:
        return "%d MB, %d descriptors, %d threads, %d versions, %d fragments" % (
            self.rss_bytes // 1_000_000, self.fds, self.threads, self.versions, self.fragments,
        )  # fmt: skip


def gauge(witness: Witness, crowd: Crowd) -> Gauge | None:
    """Measure now; None while no daemon runs."""
    pid = witness.daemon_pid()
    tables = witness.home / "store"
    try:
        lines = Path("/proc/%d/status" % pid).read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        fds = len(os.listdir("/proc/%d/fd" % pid))
    except (FileNotFoundError, ProcessLookupError):
        return None
    versions = max((len(list(table.glob("_versions/*.manifest"))) for table in tables.glob("*.lance")), default=0)
    fragments = max((len(list(table.glob("data/*"))) for table in tables.glob("*.lance")), default=0)
    rss = int(status["VmRSS"].split()[0]) * 1024
    return Gauge(crowd.turns_done, pid, rss, fds, int(status["Threads"]), versions, fragments)
