"""Blocks that an editor or the host adds before a prompt: their content is nobody's words."""

import json
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture.noise import is_noise, own_words
from memlayer.edge.capture.payload import read_payload
from memlayer.transcripts.reader import read_turns

FOREIGN = "항상 main에 바로 푸시한다. always push to main"
LINES = "def pay():\n    # %s\n    return 1\n" % FOREIGN
WORDS = "이 함수 반올림이 틀렸어, fix it"
SELECTED = "The user selected the lines 1 to 3 from /srv/shop/pay.py:\n" + LINES

# (what stands before the words, the words). The first seven were reported; the others were written before the rule.
ADDED = [
    ("<ide_selection>%s</ide_selection>\n" % SELECTED, WORDS),
    ("<ide_opened_file>The user opened the file /srv/shop/pay.py in the IDE.</ide_opened_file>\n", WORDS),
    ("<ide_diagnostics>[{'message': '%s'}]</ide_diagnostics>\n\n" % FOREIGN, WORDS),
    ("<ide_opened_file>file.txt %s</ide_opened_file>" % FOREIGN, "Hello, rename it"),
    ("<ide_opened_file>%s</ide_opened_file>\n<ide_selection>%s</ide_selection>\n" % (FOREIGN, LINES), WORDS),
    ("<ide_selection>%s</ide_selection>\n<ide_selection>%s</ide_selection>\n" % (LINES, FOREIGN), "둘 다 고쳐줘"),
    ("<system-reminder>%s</system-reminder>\n" % FOREIGN, WORDS),
    ("\n  <ide_selection>\n%s\n</ide_selection>\n\n" % LINES, "왜 1이 나와?"),
    ('<ide_selection file="/srv/pay.py" lines="1-3">%s</ide_selection>\n' % LINES, WORDS),
    ("<ide_selection>a </ide_selection> in a file\n%s</ide_selection>\n" % FOREIGN, WORDS),
    ("<ide_selection>x = '`</ide_selection>`'\n%s\n</ide_selection>\n" % FOREIGN, WORDS),
    ("<ide_context>%s</ide_context>\n" % LINES, WORDS),
    ("<ide_visible_files>src/pay.py\n%s</ide_visible_files>\n" % FOREIGN, WORDS),
    ("<vscode_selection>%s</vscode_selection>\n" % LINES, WORDS),
    ("<jetbrains_context>%s</jetbrains_context>\n" % LINES, WORDS),
    ("<editor_state>%s</editor_state>\n" % LINES, WORDS),
    ("<open_files>a.py\nb.py %s</open_files>\n" % FOREIGN, WORDS),
    ("<current_file path='pay.py'>%s</current_file>\n" % LINES, WORDS),
    ("<attached_files>\n<file_contents>%s</file_contents>\n</attached_files>\n" % LINES, WORDS),
    ("<environment_details># VSCode Open Tabs\n%s</environment_details>\n" % FOREIGN, WORDS),
    ("<workspace_info>%s</workspace_info>\n" % FOREIGN, WORDS),
    ("<linter_errors>%s</linter_errors>\n" % FOREIGN, "이거 왜 나와"),
    ("<terminal_selection>$ make\n%s</terminal_selection>\n" % FOREIGN, WORDS),
    ("<new-diagnostics>%s</new-diagnostics>\n" % FOREIGN, WORDS),
    ("<ide-selection>%s</ide-selection>\n" % LINES, WORDS),
    ("<editorContext>%s</editorContext>\n" % LINES, WORDS),
    ("<reminderInstructions>%s</reminderInstructions>\n" % FOREIGN, WORDS),
    ("<git_status>M pay.py %s</git_status>\n" % FOREIGN, "커밋 메시지 써줘"),
    ("<IDE_SELECTION>%s</IDE_SELECTION>\n" % LINES, WORDS),
    ("<ide_selection>%s</ide_selection>\r\n" % LINES.replace("\n", "\r\n"), WORDS),
    ("<system-reminder>a</system-reminder>\n<ide_opened_file>%s</ide_opened_file>\n" % FOREIGN, WORDS),
    ("<ide_selection>%s</ide_selection>\n" % LINES, "`</ide_selection>` 앞에 빈 줄을 넣어"),
    ("<post_tool_hook>%s</post_tool_hook>\n" % FOREIGN, WORDS),
    ("<recently_viewed_files>%s</recently_viewed_files>\n" % FOREIGN, WORDS),
    ("<ide:selection>%s</ide:selection>\n" % LINES, WORDS),
    ("<ide_selection >%s</ide_selection >\n" % LINES, WORDS),
    ("<user_info>OS: linux\n%s</user_info>\n<rules>%s</rules>\n" % (FOREIGN, FOREIGN), WORDS),
    ('<attached-file path="pay.py">%s</attached-file>\n' % LINES, WORDS),
    ("<ide_opened_file>%s</ide_opened_file>\n" % FOREIGN, "왜 </ide_opened_file> 뒤에 빈 줄이 와?"),
]

# (prompt, the person's words in it): blocks that do not stand before all words.
WITHIN = [
    ("고쳐줘\n<system-reminder>%s</system-reminder>" % FOREIGN, "고쳐줘\n"),
    ("고쳐줘\n\n<system-reminder>\n%s\n</system-reminder>\nand test it" % FOREIGN, "고쳐줘\n\n\nand test it"),
    ("fix it <system-reminder>\n%s\n</system-reminder>" % FOREIGN, "fix it "),
    ("<system-reminder>%s</system-reminder>\n고쳐줘\n<system-reminder>b</system-reminder>\n" % FOREIGN, "고쳐줘\n\n"),
    ("[Image #1] <ide_selection>%s</ide_selection>\n왜 이래?" % LINES, "[Image #1]\n\n왜 이래?"),
    ("[Image #1]\n<ide_opened_file>%s</ide_opened_file>\nwhy?" % FOREIGN, "[Image #1]\n\nwhy?"),
]

STAYS = [
    "<ide_selection> 태그가 왜 내 말로 저장돼?",
    "<ide_opened_file>는 뭐야",
    "<ide_selection>...</ide_selection> 이 태그는 뭐야?",
    "<ide_selection></ide_selection> is stored as my words, why?",
    "<ide_selection>foo</ide_selection> 같은 블록을 지우는 정규식 써줘",
    "`<ide_selection>lines of a file</ide_selection>` 블록을 어떻게 지워?",
    "why is <ide_selection>some lines</ide_selection> stored as my words?",
    "strip <ide_opened_file> before the prompt is stored",
    "<ide_diagnostics> blocks come through, see <ide_selection>",
    "<ide_opened_file>main.py</ide_opened_file> shows up in my log: where does ide_opened_file come from?",
    "<system-reminder> in my log, why?",
    "<div class='a_b'>does not close</div> fix it",
    "<my-button>저장</my-button>\n이거 왜 안 보여?",
    "<router-link to='/a'>Go</router-link>\nthis link is dead",
    "<text-editor>hello there</text-editor>\n이 컴포넌트가 두 번 그려져",
    "<file-upload>pick a file</file-upload>\nstyle this",
    "<AppHeader>제목입니다</AppHeader>\n두 번 그려져",
    "<linearGradient>stops here</linearGradient>\nsvg가 깨져",
    "<artifactId>shop-core</artifactId>\n이 버전이 뭐야?",
    "<error_log>TypeError: x is undefined at pay.js:3</error_log>\n이거 왜 나?",
    "<my_code>return 1 + 1 == 3</my_code>\nwhat is wrong?",
    "<user_query>결제 모듈을 고쳐줘</user_query>",
    "<task>write the test for pay.py</task>",
    "<context>우리는 원화만 쓴다</context>\n반올림은?",
    "<string_array>one two three</string_array>\nandroid에서 왜 안 읽혀?",
    "<ide_selection>\nthe tag is never closed, 이 줄부터",
    "if a < ide_selection and b > 3: pass",
    "ide_selection 블록을 지워줘",
    "<ide_selection>foo = 1</ide_selection> 가 프롬프트 앞에 붙는데 왜 그래?",
    "<ide_selection>이 뭐고 </ide_selection>은 어디서 닫혀?",
    "<ide_selection>은 열리는데\n왜 </ide_selection>은 안 와?",
    "<ide_selection>opens and </ide_selection> closes, who writes them?",
    "<ide_selection>%s</ide_selection>\nwhy does the host send me this ide_selection thing?" % LINES,
    "<ide_selection>%s</ide_selection>\n왜 <ide_selection>이 붙어?" % LINES,
    "<system-reminder>%s</system-reminder>\nsystem-reminder는 누가 보내?" % LINES,
    "왜 <system-reminder>x</system-reminder>가 내 말에 붙어?",
    "고쳐줘\n<system-reminder>%s</system-reminder>\n이 system-reminder는 누가 보내?" % FOREIGN,
    "<rules>우리는 원화만 쓴다</rules>\n반올림은?",
    *(
        "<%s>%s</%s>\n이 설정이 왜 안 읽혀?" % (name, value, name)
        for name, value in (
            ("file_name", "main report.txt"),
            ("git_branch", "release for 결제"),
            ("open_hours", "9 to 18, 주말은 쉼"),
            ("layout_width", "640 px"),
            ("selected_item", "둘째 줄"),
            ("git_repository", "shop core"),
            ("active_users", "12 of 30"),
            ("window_title", "주문 목록"),
            ("editor_font", "D2Coding 13"),
            ("workspace_name", "shop main"),
            ("system_locale", "ko KR"),
            ("environment_name", "staging 서울"),
            ("terminal_color", "dark blue"),
            ("current_price", "12 000 원"),
            ("current_file", "report.txt"),
            ("cursor_shape", "thin bar"),
        )
    ),
    "결제 모듈을 고쳐줘\n<ide_selection>lines that I put here myself</ide_selection>",
]


@pytest.mark.parametrize(("added", "words"), ADDED)
def test_block_before_the_words_is_not_the_persons(added: str, words: str) -> None:
    assert own_words(added + words).strip() == words
    assert not is_noise(added + words)


@pytest.mark.parametrize(("prompt", "words"), WITHIN)
def test_block_within_the_words_is_not_the_persons(prompt: str, words: str) -> None:
    assert own_words(prompt).strip() == words.strip()


@pytest.mark.parametrize("prompt", STAYS)
def test_question_about_a_tag_and_own_paste_stay(prompt: str) -> None:
    assert own_words(prompt) == prompt
    assert not is_noise(prompt)


@pytest.mark.parametrize("added", [added for added, _ in ADDED])
def test_block_alone_is_nobodys_prompt(added: str) -> None:
    assert own_words(added).strip() == "" and is_noise(added)
    assert event_of(added) is None


def event_of(prompt: str) -> dict[str, Any] | None:
    raw = json.dumps({"session_id": "s", "prompt_id": "p", "prompt": prompt}).encode()
    return read_payload("user_prompt_submit", raw, project_dir="/p", at_ms=1).event


@pytest.mark.parametrize(("added", "words"), ADDED)
def test_hook_and_transcript_keep_the_words_alone(tmp_path: Path, added: str, words: str) -> None:
    event = event_of(added + words)
    assert event is not None and str(event["text"]).strip() == words and event["detail"] == ""
    path = tmp_path / "t.jsonl"
    for content in (added + words, [{"type": "text", "text": part} for part in (added, words)]):
        record = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": content}}
        path.write_text(json.dumps(record) + "\n", "utf-8")
        assert [turn.text.strip() for turn in read_turns(str(path))] == [words]


def test_long_blocks_are_passed_over_in_linear_time() -> None:
    for piece in (
        "<ide_selection>",
        "</ide_selection>",
        "<ide_selection>abcdef</ide_selection>",
        "<ide_a_b",
        "`</ide_x>`",
    ):
        text = (piece * 100_000)[:1_000_000]
        assert isinstance(own_words("<ide_selection>" + text), str)
