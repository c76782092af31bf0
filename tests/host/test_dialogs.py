"""What the person says in the real host's dialogs, shown by another program over stream-json."""

import json
import subprocess

import pytest

from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

QUESTION = "운영 DB는 무엇으로 할까요?"
ANSWER = "Postgres, 읽기 복제본 둘"
REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
WORDS = "배포는 CI만 해"
ASKING = {
    "question": QUESTION, "header": "DB", "multiSelect": False,
    "options": [{"label": "Postgres", "description": "a"}, {"label": "MySQL", "description": "b"}],
}  # fmt: skip
CALLS = {
    "DB 정하자": ("AskUserQuestion", {"questions": [ASKING]}),
    "배포해 줘": ("Bash", {"command": "npm publish", "description": "publish"}),
}


def script(request: Request) -> Answer:
    call = None if not request.is_turn or request.has_tool_result else CALLS.get(request.last_user_text)
    return Answer(text="네.", tool_uses=(call,) if call else ())


def test_answers_and_refusals_stand_in_their_turns(claude: Claude) -> None:
    claude.api.script = script
    streaming = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    process = subprocess.Popen(
        [claude.host.claude, "-p", *streaming, "--permission-prompt-tool", "stdio", "--plugin-dir", claude.plugin],
        cwd=claude.project, env=claude.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None

    def send(message: dict[str, object]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()

    with process:
        try:
            for prompt in CALLS:
                send({"type": "user", "message": {"role": "user", "content": prompt}})
                for line in process.stdout:
                    said = json.loads(line)
                    if said["type"] == "result":
                        break
                    if said["type"] == "control_request":
                        asked = said["request"]
                        allowed = {
                            "behavior": "allow",
                            "updatedInput": {**asked["input"], "answers": {QUESTION: ANSWER}},
                        }
                        denied = {"behavior": "deny", "message": REFUSAL + WORDS}
                        answer = allowed if asked["tool_name"] == "AskUserQuestion" else denied
                        response = {"subtype": "success", "request_id": said["request_id"], "response": answer}
                        send({"type": "control_response", "response": response})
            process.stdin.close()
            process.wait(timeout=60)
        finally:
            process.kill()
    assert sorted(claude.memory_texts()) == sorted(
        [f"User: DB 정하자\n> {QUESTION}\n{ANSWER}\nAssistant: 네.", f"User: 배포해 줘\n{WORDS}\nAssistant: 네."]
    )
    counts = claude.memlayer("import")
    assert (counts["new"], counts["known"]) == (0, 6), counts
    assert claude.hook_failures() == []
