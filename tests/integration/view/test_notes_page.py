"""Notes on the page: each change and its undo, the deletion list, the review."""

import re
import subprocess
from pathlib import Path

from tests.support.page_process import PageProcess, ViewedHome, links_of
from tests.support.waiting import wait_for


def test_today_tells_prompts_notes_and_what_waits(viewed: ViewedHome, page: PageProcess) -> None:
    assert viewed.hook("session_start", "시작", source="startup").context
    wait_for(lambda: "At its start: " in page.get("/").text, "the start on record")
    text = page.get("/").text
    assert "Where do we keep order events?" in text and "결제 웹훅 포트가 뭐였지?" in text
    prompts = re.findall(r"<h3><time>[^<]*</time> ([^<]*)</h3>", text)
    assert re.search(r"Prompts given a note</dt><dd>\d+<small> of %d</small>" % len(prompts), text)
    assert "Nothing given" in text or "chance" in text
    assert "3 open tasks" in text
    assert "/sessions/one" in links_of(text)


def test_the_notebook_is_filtered_by_words_kind_and_state(page: PageProcess) -> None:
    whole = page.get("/notes").text
    assert "한국어로 쓴다" in whole and "9090 now" in whole and "port 8080" not in whole
    assert "9090" not in page.get("/notes?q=" + "%ED%95%9C%EA%B5%AD%EC%96%B4").text
    assert "<mark>9090</mark>" in page.get("/notes?q=9090").text
    assert "한국어로" in page.get("/notes?kind=preference").text
    assert "port 8080" in page.get("/notes?state=ended").text
    assert "No note fits" in page.get("/notes?q=zzz").text


def test_a_project_is_shown_at_a_time(page: PageProcess) -> None:
    assert "Astro" not in page.get("/notes").text
    assert "Astro" in page.get("/notes?project=all").text
    text = page.get("/notes?project=all").text
    assert ">사이트</option>" in text and ">shop</option>" in text


def test_edit_keeps_the_old_text_and_restore_brings_it_back(viewed: ViewedHome, page: PageProcess) -> None:
    note = viewed.note("gzip slowed")
    answer = page.post(f"/notes/{note.id}/edit", text="gzip은 내보내기를 늦춘다")
    assert answer.status == 303 and "said=Changed" in answer.headers["location"]
    shown = page.get(f"/notes/{note.id}").text
    assert "<del>" in shown and "<ins>" in shown and "내보내기를" in shown
    older = viewed.verb("show", "--history", note.id)["versions"][-1]
    assert page.post(f"/notes/{older['id']}/restore").status == 303
    assert viewed.note("gzip slowed").id == note.id


def test_a_headline_is_edited_and_shown(viewed: ViewedHome, page: PageProcess) -> None:
    note = viewed.note("gzip slowed")
    headline = "gzip off: it slowed the export, 내보내기는 압축 없이"
    answer = page.post(f"/notes/{note.id}/edit", text=note.text, headline=headline, subject="Export")
    assert answer.status == 303
    edited = viewed.note("gzip slowed")
    assert (edited.headline, edited.subject, edited.text) == (headline, "Export", note.text)
    shown = page.get(f"/notes/{note.id}").text
    assert (
        f"At a session's start: <strong>{headline}</strong>" in shown.replace("&#39;", "'")
        and 'name="subject" maxlength="20" value="Export"' in shown
    )
    [row] = [row for row in page.get("/notes").text.split('<li class="row">') if headline in row]
    assert note.text not in row  # they say the same twice
    assert "<mark>압축</mark>" in page.get("/notes?q=%EC%95%95%EC%B6%95").text
    refused = page.post(f"/notes/{note.id}/edit", text=note.text, headline="가" * 141)
    assert refused.status == 400 and "at most 140 characters" in refused.text
    assert viewed.note("gzip slowed").headline == headline
    assert page.post(f"/notes/{note.id}/edit", text=note.text, headline="", subject="").status == 303
    assert viewed.note("gzip slowed").headline == ""


def test_note_is_told_in_plain_words(viewed: ViewedHome, page: PageProcess) -> None:
    turn = next(row for row in viewed.verb("list", "conversation")["memories"] if "화요일" in row["text"])
    drawn = next(row for row in viewed.verb("list", "core")["memories"] if row["source_ids"])
    for path in (
        "/",
        "/notes",
        "/search?q=port",
        f"/notes/{turn['citation']}",
        f"/notes/{drawn['citation']}",
        "/tasks",
    ):
        main = re.sub(r"<[^>]*>", " ", page.get(path).text.partition("<main")[2])
        found = re.findall(r"\b(?:seen|level|L[0-4]|exact|confidence|lacks|hook|daemon|by person|score)\b", main)
        assert found == [], path
    assert (
        page.get(f"/notes/{turn['citation']}").text.count("배포는 언제 하기로 했지?") <= 2
    )  # its own, and among its neighbours


def test_pin_and_unpin(viewed: ViewedHome, page: PageProcess) -> None:
    note = viewed.note("한국어로")
    assert page.post(f"/notes/{note.id}/pin").status == 303
    assert viewed.note("한국어로").pinned is True
    assert page.post(f"/notes/{note.id}/pin", off="1").status == 303
    assert viewed.note("한국어로").pinned is False


def test_a_note_is_given_to_the_team_and_taken_back(viewed: ViewedHome, page: PageProcess, tmp_path: Path) -> None:
    note, place = viewed.note("한국어로"), tmp_path / "team"
    place.mkdir()
    assert f"/notes/{note.id}/promote" not in page.get(f"/notes/{note.id}").text
    where = {"project_dir": str(viewed.shop)}
    with_author = ["-c", "user.name=Kim", "-c", "user.email=kim@example.com"]
    for command in (["init", "-q"], [*with_author, "commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(viewed.shop), *command], check=True)
    viewed.daemon.call("team.setup", **where, address="file://" + str(place), name="Kim Minji", by_hand=True)
    assert f"/notes/{note.id}/promote" in page.get(f"/notes/{note.id}").text
    assert page.post(f"/notes/{note.id}/promote").status == 303
    assert viewed.daemon.call("team.status", **where)["promoted"] == 1
    assert page.post(f"/notes/{note.id}/promote", off="1").status == 303
    assert viewed.daemon.call("team.status", **where)["promoted"] == 0
    viewed.daemon.call("team.leave", **where)


def test_an_empty_edit_changes_nothing(viewed: ViewedHome, page: PageProcess) -> None:
    note = viewed.note("한국어로")
    assert page.post(f"/notes/{note.id}/edit", text="  ").status == 400
    assert viewed.note("한국어로").text == note.text


def test_a_note_shows_its_words_in_its_turn(viewed: ViewedHome, page: PageProcess) -> None:
    turn = next(row for row in viewed.verb("list", "conversation")["memories"] if "화요일" in row["text"])
    text = page.get(f"/notes/{turn['citation']}").text
    assert "Where it comes from" in text and "배포는 언제 하기로 했지?" in text
    assert "/sessions/one" in links_of(text)


def test_forgetting_shows_what_goes_along_then_erases(viewed: ViewedHome, page: PageProcess) -> None:
    viewed.hook.turn("three", "p9", "we always use 참새검색 for lookups", "Noted: 참새검색 for lookups.")
    viewed.daemon.settle()
    turn = next(row for row in viewed.verb("list", "conversation")["memories"] if "참새검색" in row["text"])
    asked = page.get(f"/notes/{turn['id']}/forget")
    assert "would go" in asked.text and "참새검색" in asked.text
    assert page.get(f"/notes/{turn['id']}").status == 200  # asking forgets nothing
    done = page.post(f"/notes/{turn['id']}/forget")
    assert done.status == 303 and "Forgotten" in done.headers["location"]
    assert page.get(f"/notes/{turn['id']}").status == 404
    assert "참새검색" not in page.get("/notes").text
    found = [
        path
        for path in (viewed.home / "store").rglob("*")
        if path.is_file() and "참새검색".encode() in path.read_bytes()
    ]
    assert found == []


def test_review_keeps_and_takes_back(viewed: ViewedHome, page: PageProcess) -> None:
    note = viewed.note("gzip slowed")
    assert "gzip slowed" in page.get("/review").text
    assert page.post("/review", how="keep", id=note.id).status == 303
    assert "gzip slowed" not in page.get("/review").text
    assert page.post("/review", how="undo").status == 303
    assert "gzip slowed" in page.get("/review").text


def test_review_merges(viewed: ViewedHome, page: PageProcess) -> None:
    note, other = viewed.note("gzip slowed"), viewed.note("9090 now")
    done = page.post("/review", how="merge", id=note.id, other=other.citation, text="9090, and gzip is slow")
    assert done.status == 303, done.text
    assert viewed.note("9090, and gzip is slow")
    assert page.post("/review", how="undo").status == 303
    assert viewed.note("9090 now").superseded_by == ""
