"""A played week: what a session says is told at the start of the next one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WEEK = {
    "about": "two days",
    "sessions": [
        {
            "session": f"day-{day}",
            "at": f"2026-12-0{day}T09:30:00+09:00",
            "turns": [{"prompt": prompt, "answer": "네, 그렇게 하겠습니다.", "minutes": 3}],
        }
        for day, prompt in ((7, "배포는 목요일 오전에 하기로 했어, staging 은 port 8443 이야"), (8, "다음 일을 보자"))
    ],
    "needs": [],
    "outdated": [],
}


@pytest.mark.timeout(120)
def test_a_week_plays_through_hooks_and_daemon(tmp_path: Path) -> None:
    file = tmp_path / "week.json"
    file.write_text(json.dumps(WEEK, ensure_ascii=False), "utf-8")
    run = [sys.executable, "evals/week.py", str(file), "--json", str(tmp_path / "out.json")]
    assert subprocess.run(run, cwd=ROOT, capture_output=True, timeout=100).returncode == 0
    [line] = json.loads((tmp_path / "out.json").read_text("utf-8"))["lines"]
    assert line[0] == "day-8.0" and "배포는 목요일 오전에 하기로 했어" in line[2]
