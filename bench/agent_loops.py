"""Run many tool calls in an agent loop; print CPU microseconds a round.

`python bench/agent_loops.py memlayer|memlayer-xml|mini-swe-agent|llm ROUNDS`: run by bench/agent.py, in an environment
that has the package. Each round the scripted model calls a tool once, whose output has 2,000 characters.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

OUTPUT = ("결과 행 result line %d\n" * 90)[:2000]


def memlayer(rounds: int, is_native: bool = True) -> Callable[[], None]:
    """Return a talk in memlayer's loop."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from memlayer.agent.execution import Toolbox
    from memlayer.agent.loop import Agent
    from memlayer.chat import ChatRequest, Reply, ToolCall
    from memlayer.config.agent import AgentSettings

    class Tool:
        name, description, parameters = "look", "Look.", {"type": "object", "properties": {}}

        def run(self, arguments: Any) -> str:
            return OUTPUT

    class Provider:
        name = "scripted"
        asked = 0

        def supports_native_tools(self) -> bool:
            return is_native

        def check(self) -> None:
            pass

        def chat(self, request: ChatRequest, **_: Any) -> Reply:
            self.asked += 1
            if self.asked > rounds:
                return Reply("done")
            arguments = {"at": self.asked}
            if is_native:
                return Reply("", (ToolCall("c%d" % self.asked, "look", arguments),))
            return Reply("<tool_call>%s</tool_call>" % json.dumps({"name": "look", "arguments": arguments}))

    def run() -> None:
        provider = Provider()
        talk = Agent(provider, AgentSettings(model="m", max_tool_iterations=rounds + 1), Toolbox([Tool()]))
        assert talk.turn("찾아줘") == "done" and provider.asked == rounds + 1

    return run


def mini_swe_agent(rounds: int) -> Callable[[], None]:
    """Return a talk in mini-swe-agent's loop, with its own scripted model."""
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.exceptions import Submitted
    from minisweagent.models.test_models import DeterministicModel, make_output

    class Environment:
        seen = 0

        def execute(self, action: dict[str, Any], cwd: str = "") -> dict[str, Any]:
            self.seen += 1
            if action["command"] == "done":
                raise Submitted({"role": "exit", "content": "done", "extra": {"submission": "done"}})
            return {"output": OUTPUT, "returncode": 0, "exception_info": ""}

        def get_template_vars(self, **kwargs: Any) -> dict[str, Any]:
            return kwargs

        def serialize(self) -> dict[str, Any]:
            return {}

    def run() -> None:
        commands = ["look %d" % number for number in range(rounds)] + ["done"]
        outputs = [make_output("", [{"command": one}], 0.0) for one in commands]
        environment = Environment()
        agent = DefaultAgent(
            DeterministicModel(outputs=outputs), environment, system_template="You look.", instance_template="{{task}}"
        )
        assert agent.run("찾아줘") == {"submission": "done"} and environment.seen == rounds + 1

    return run


def simonw_llm(rounds: int) -> Callable[[], None]:
    """Return a talk in the loop of llm (chain)."""
    import llm

    class Scripted(llm.Model):
        model_id = "scripted"
        supports_tools = True
        can_stream = False
        asked = 0

        def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any = None) -> Iterator[str]:
            self.asked += 1
            if self.asked > rounds:
                yield "done"
                return
            made = llm.ToolCall(name="look", arguments={"at": self.asked}, tool_call_id="c%d" % self.asked)
            response.add_tool_call(made)
            yield ""

    def look(at: int) -> str:
        """Return a fixed output."""
        return OUTPUT

    def run() -> None:
        model = Scripted()
        answer = model.conversation(tools=[look]).chain("찾아줘", chain_limit=0, stream=False).text()
        assert answer.endswith("done") and model.asked == rounds + 1

    return run


LOOPS: dict[str, Callable[[int], Callable[[], None]]] = {
    "memlayer": memlayer,
    "memlayer-xml": lambda rounds: memlayer(rounds, is_native=False),
    "mini-swe-agent": mini_swe_agent,
    "llm": simonw_llm,
}


def main() -> None:
    """Run a loop once to warm up, then five times."""
    name, rounds = sys.argv[1], int(sys.argv[2])
    run = LOOPS[name](rounds)
    run()
    for _ in range(5):
        begin = time.process_time()
        run()
        print(round(1e6 * (time.process_time() - begin) / rounds))


if __name__ == "__main__":
    main()
