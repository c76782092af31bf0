"""House rule: who starts programs, and the one place that calls git."""

import ast
import re

import pytest

from tests.unit.test_house_rules import ROOT, name, parsed

# Whoever starts a program, by its reason. git is started by `records/git.py` alone, which keeps it from programs and
# addresses that a repository's configuration names.
STARTING = {
    "memlayer/records/git.py": "git",
    "memlayer/edge/bootstrap/install.py": "pip and uv, a trial of the runtime, a Python to ask for its version",
    "memlayer/cli/doctor/checks.py": "a Python, to time its start",
    "memlayer/providers/claude_cli.py": "the host's command line",
    "memlayer/agent/tools.py": "commands of the agent",
}

SIGNS = re.compile("subprocess|popen|spawn|system|[\"']git[\"']", re.IGNORECASE)  # parsing every module takes seconds


def starting(tree: ast.Module) -> list[str]:
    """Return the calls that start a program, and words of a command of git."""
    found = []
    for node in ast.walk(tree):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        module, _, verb = called.rpartition(".")
        is_os = module in ("os", "posix") and verb.startswith(("spawn", "posix_spawn", "system", "popen"))
        if is_os or module == "subprocess" or verb in ("Popen", "create_subprocess_exec", "create_subprocess_shell"):
            found.append(called)
        elif isinstance(node, ast.List):  # its first word, behind those of another program that becomes it
            words = [word for word in node.elts if not isinstance(word, ast.Starred)]
            found += ["git"] if words and getattr(words[0], "value", "") == "git" else []
    return found


def test_git_is_called_in_one_place() -> None:
    paths = [path for path in (ROOT / "memlayer").rglob("*.py") if SIGNS.search(path.read_text(encoding="utf-8"))]
    found = {name(path): calls for path in paths if (calls := starting(parsed(path)))}
    assert found.keys() == STARTING.keys()
    assert [path for path, calls in found.items() if "git" in calls] == ["memlayer/records/git.py"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("subprocess.run(['ls'])", ["subprocess.run"]),
        ("subprocess.check_output(words)", ["subprocess.check_output"]),
        ("words = ['git', 'log']", ["git"]),
        ("Popen(['git', 'log'])", ["Popen", "git"]),
        ("words = [*limited, 'git', 'log']", ["git"]),
        ("os.system('git log')", ["os.system"]),
        ("os.posix_spawnp('git', words, env)", ["os.posix_spawnp"]),
        ("asyncio.create_subprocess_exec('git')", ["asyncio.create_subprocess_exec"]),
        ("kinds = ['file', 'git']", []),
        ("os.path.join(a, 'git')", []),
    ],
)
def test_started_programs_are_found(code: str, found: list[str]) -> None:
    assert starting(ast.parse(code)) == found
