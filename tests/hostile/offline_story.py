"""The whole story in one process tree, without a network.

Run as python offline_story.py FOLDER. Two sessions through real hooks, a daemon with the model that ships, the command
line. Prints the results as JSON.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.cli_process import Cli  # noqa: E402
from tests.support.processes import Daemon, HookRunner  # noqa: E402


def main(top: Path) -> None:
    home, project = top / "home", top / "shop"
    project.mkdir()
    hook = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
    hook.forbid_background()
    told = {}
    with Daemon(ROOT, home, settings={}) as daemon:  # the defaults: with the model
        daemon.wait_for(lambda: daemon.call("status")["mode"] == "hybrid", "model", timeout_s=60)
        hook("session_start", "one", source="startup")
        hook.turn(
            "one", "p1", "결제 재시도는 몇 번까지 할까?", "결제 모듈은 지수 백오프로 최대 3번 재시도하기로 했습니다."
        )
        hook.turn(
            "one",
            "p2",
            "Move the order events out of Postgres, please.",
            "Order events moved from Postgres to ClickHouse.",
        )
        hook("session_end", "one", reason="other")
        daemon.settle()
        told["start"] = hook("session_start", "two", source="startup").context
        told["prompt"] = hook("user_prompt_submit", "two", "q1", prompt="결제가 실패하면 몇 번 다시 시도하지?").context
        cli = Cli(home, project)
        told["search"] = cli("search", "order events").stdout
        told["stats"] = cli("stats").stdout
        told["mode"] = daemon.call("status")["mode"]
    print(json.dumps(told, ensure_ascii=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
