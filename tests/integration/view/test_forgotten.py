"""A session whose words are forgotten stands nowhere; one count for each figure."""

import json
import re

import pytest

from tests.support.page_process import PageProcess, ViewedHome

GONE = "gone-now"
TOLD = (("두루미 서버의 비밀 이름은 뭐였지?", "zephyrine 입니다."), ("Where is zephyrine kept?", "In the cellar."))
PLACES = ("/", "/sessions", "/figures", "/notes", "/search?q=zephyrine", "/?project=all", "/sessions?project=all")


def told(page: PageProcess) -> dict[str, object]:
    """Return where the session stands, and the day's figures."""
    texts = {path: page.get(path).text for path in PLACES}
    left = re.compile('zephyrine(?!")|두루미|not kept|without a prompt')
    stands = [path for path, text in texts.items() if left.search(text)]
    return {"stands": stands, "figures": figures(texts)}


def figures(texts: dict[str, str]) -> tuple[str, ...]:
    today = re.search(r"given a note</dt><dd>(\d+)<small> of (\d+)", texts["/"])
    cell = r'<td class="n">(\d+)</td>'
    row = re.search(rf"<tr><td>\d\d.\d\d</td>{cell}.*?</td>{cell}", texts["/figures"])
    assert today and row
    assert (today[2], today[1]) == (row[1], row[2]), "two counts of prompts"
    return today.groups()


@pytest.mark.parametrize("by", ["session", "ids", "project"])
def test_a_forgotten_session_stands_nowhere(viewed: ViewedHome, page: PageProcess, by: str) -> None:
    before, session = told(page), f"{GONE}-{by}"
    hook = viewed.hook
    if by == "project":
        hook = type(hook)(hook.root, viewed.home, viewed.site, python=hook.python)
    hook("session_start", session, source="startup")
    for number, (prompt, answer) in enumerate(TOLD):
        hook.turn(session, f"p{number}", prompt, answer)
    hook("session_end", session, reason="other")
    viewed.daemon.settle()
    assert "/?project=all" in told(page)["stands"]  # type: ignore[operator]
    turns = viewed.verb("list", "conversation", "--session", session)["memories"]
    chosen = {
        "session": ["--session", session], "project": ["--project", str(viewed.site)],
        "ids": [turn["id"] for turn in turns],
    }[by]  # fmt: skip
    assert len(turns) == len(TOLD) and viewed.cli("forget", *chosen, "--yes").returncode == 0
    assert told(page) == before
    assert page.get(f"/sessions/{session}").status == 404
    listed = viewed.verb("sessions", "--all-projects")["sessions"], viewed.verb("given", "--last", "50")["prompts"]
    assert session not in json.dumps(listed, ensure_ascii=False)


def test_a_session_stays_with_its_last_turn(viewed: ViewedHome, page: PageProcess) -> None:
    for number, (prompt, answer) in enumerate(TOLD):
        viewed.hook.turn("halb", f"p{number}", prompt, answer)
    viewed.hook("session_end", "halb", reason="other")
    viewed.daemon.settle()
    first = viewed.verb("list", "conversation", "--session", "halb")["memories"][-1]
    assert viewed.cli("forget", first["id"], "--yes").returncode == 0
    assert "In the cellar" in page.get("/sessions/halb").text
    [row] = viewed.verb("sessions", "halb")["sessions"]
    assert row["turns"] == 1


def test_only_a_models_call_is_a_look_up(viewed: ViewedHome, page: PageProcess) -> None:
    def looked_up() -> str:
        viewed.daemon.settle()
        found = re.search(r"looked up by the model</dt><dd>(\d+)", page.get("/figures").text)
        assert found
        return found[1]

    note, before = viewed.note("9090 now"), looked_up()
    assert viewed.cli("show", note.id).returncode == 0 and page.get(f"/notes/{note.id}").status == 200
    assert page.api("GET", f"/api/citations/{note.id}").status == 200
    assert looked_up() == before
    viewed.daemon.call("mem.details", ids=[note.id], project_dir=str(viewed.shop))
    assert looked_up() == str(int(before) + 1)
