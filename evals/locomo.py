"""Recall quality on conversations in LoCoMo's format.

Through the product's own ingest and search.

`python evals/locomo.py FILE [--json FILE] [--plot FILE.svg]`. FILE: [{conversation: {session_N: [{dia_id, text}]},
qa: [{question, category, evidence: [dia_id]}]} (https://github.com/snap-research/locomo; its licence keeps it out).

Two utterances in a row are a turn: prompt and answer. No name, no date and no other hint goes in: a question that says
"Caroline" finds her only where somebody called her so. The results are turns; each takes two places of the ranking, its
utterances in the order of how much of the question they hold, for every method alike.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer import compose  # noqa: E402
from memlayer.config import load_settings  # noqa: E402
from memlayer.daemon.resources.state import EmbedderSlot  # noqa: E402
from memlayer.edge.capture.payload import spool_event  # noqa: E402
from memlayer.give.query import reduce_prompt  # noqa: E402
from memlayer.give.retriever import coverage  # noqa: E402
from memlayer.model import Hit, Scope, turn_memory_id  # noqa: E402
from memlayer.records.sessions import Sessions  # noqa: E402
from memlayer.text.terms import frequencies, index_terms  # noqa: E402

DAY_MS, MINUTE_MS, START_MS = 86_400_000, 60_000, 1_700_000_000_000
MEASURES = ("any@1", "any@5", "any@10", "all@5", "all@10", "MRR", "session all@5", "session frac@10")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
LIMIT = 30  # chunks a leg, as by default
RRF_K = 60  # Cormack, Clarke and Buettcher 2009
console = Console()
Ranked = list[str]  # memory ids, best first


class Conversation:
    """One conversation as a project.

    Its utterances, who stands in which turn, and its questions.
    """

    def __init__(self, data: dict[str, Any], name: str) -> None:
        self.name = name
        self.folder = "/bench/" + name
        self.events: list[dict[str, Any]] = []
        self.turns: dict[str, list[str]] = {}  # memory id -> dia ids
        self.text: dict[str, str] = {}
        self.session: dict[str, int] = {}
        for number, turns in _sessions(data["conversation"]):
            self._add(number, turns)
        self.questions = []
        for one in data["qa"]:
            evidence = [name for said in one.get("evidence", []) for name in re.findall(r"D\d+:\d+", said)]
            evidence = [name for name in dict.fromkeys(evidence) if name in self.text]
            if evidence:
                self.questions.append((str(one["question"]), int(one["category"]), evidence))

    def _add(self, number: int, turns: list[dict[str, Any]]) -> None:
        session_id = "%s-%d" % (self.name, number)
        for place, one in enumerate(turns):
            said = one["text"] + (" [image: %s]" % one["blip_caption"] if one.get("blip_caption") else "")
            prompt_id = "%s-%d" % (session_id, place // 2)
            self.events.append(
                spool_event(
                    kind="assistant" if place % 2 else "user", session_id=session_id, prompt_id=prompt_id, text=said,
                    at_ms=START_MS + number * DAY_MS + place * MINUTE_MS, project_dir=self.folder,
                )
            )  # fmt: skip
            self.turns.setdefault(turn_memory_id(session_id, prompt_id), []).append(one["dia_id"])
            self.text[one["dia_id"]] = said
            self.session[one["dia_id"]] = number


def _sessions(conversation: dict[str, Any]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    for number in range(1, 100):
        if isinstance(conversation.get("session_%d" % number), list):
            yield number, conversation["session_%d" % number]


def measured(ranking: Ranked, conversation: Conversation, evidence: list[str], question: "Question") -> list[float]:
    """The MEASURES of one answered question."""
    said = [one for memory in ranking for one in question.by_fit(conversation.turns.get(memory, []))]
    place = {one: at for at, one in reversed(list(enumerate(said)))}
    at = [place.get(one, len(said) + 10_000) for one in evidence]
    sessions = list(dict.fromkeys(conversation.session[one] for one in said))
    wanted = {conversation.session[one] for one in evidence}
    return [
        min(at) < 1, min(at) < 5, min(at) < 10, max(at) < 5, max(at) < 10, 1 / (1 + min(at)),
        wanted <= set(sessions[:5]), len(wanted & set(sessions[:10])) / len(wanted),
    ]  # fmt: skip


class Question:
    """A question on one conversation, and the rankings that each method gives."""

    def __init__(self, text: str, conversation: Conversation, services: compose.Services, scope: Scope) -> None:
        self.query = reduce_prompt(text)
        self._conversation = conversation
        self._services = services
        self._scope = scope
        self._weight = services.recall.retriever.terms.weights(self.query.terms)

    def by_fit(self, said: list[str]) -> list[str]:
        """Return a turn's utterances, the best match of the question first.

        The best holds most of the question.
        """

        def held(one: str) -> float:
            terms = index_terms(self._conversation.text[one]).split()
            return coverage(frequencies(self.query.terms, terms), self._weight)

        return sorted(said, key=held, reverse=True)

    def rankings(self, rules: Any) -> dict[str, Ranked]:
        """Method -> memory ids."""
        services, query = self._services, self.query
        embedder = services.recall.retriever.embedder()
        assert embedder is not None
        words = services.store.search_text(query.terms, self._scope, LIMIT) if query.terms else []
        near = services.store.search_vector(
            embedder.embed_query(query.text), embedder.fingerprint, self._scope, LIMIT
        )  # fmt: skip
        fused = services.recall.retriever.search(query, self._scope, LIMIT, rules.weights)
        return {
            "memlayer": [chunk.memory_id for chunk, _ in fused],
            "BM25 alone": _memories(words),
            "vectors alone": _memories(near),
            "RRF": _rrf(_memories(words), _memories(near)),
        }


def _memories(hits: list[Hit]) -> Ranked:
    return list(dict.fromkeys(hit.chunk.memory_id for hit in hits))


def _rrf(*rankings: Ranked) -> Ranked:
    worth: dict[str, float] = {}
    for ranking in rankings:
        for place, one in enumerate(ranking):
            worth[one] = worth.get(one, 0.0) + 1 / (RRF_K + place + 1)
    return sorted(worth, key=lambda one: -worth[one])


def opened(home: Path) -> tuple[compose.Services, Callable[[str], str]]:
    """Open the product's services on a home, with its model.

    Returns also a function: folder -> its project.
    """
    settings = load_settings(str(home), {})
    slot = EmbedderSlot()
    projects = compose.open_projects(str(home))
    services = compose.open_services(
        str(home), settings, projects=projects, sessions=Sessions(str(home)), embedder=slot
    )  # fmt: skip

    def fit(dimensions: int) -> None:
        if dimensions != services.store.dimensions:  # the cache of the rows would be begun anew
            services.store.fit(dimensions)

    slot.load(compose.embedder_maker(str(home), settings), fit)
    return services, lambda folder: projects.resolve(folder)[0]


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--json", "json_file", default="", help="Write the figures there too.")
@click.option("--plot", default="", help="Draw them there (SVG).")
def main(file: Path, json_file: str, plot: str) -> None:
    """Measure recall on FILE."""
    conversations = [
        Conversation(one, str(one.get("sample_id", place))) for place, one in enumerate(json.loads(file.read_text()))
    ]  # fmt: skip
    home = Path(tempfile.mkdtemp(prefix="memlayer-recall-"))
    os.chmod(home, 0o700)
    try:
        figures = run(conversations, home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    show(figures)
    text = json.dumps(figures, indent=1) + "\n"
    if json_file:
        Path(json_file).write_text(text)
    if plot:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as kept:
            kept.write(text)
            kept.flush()
            # In a process of its own: this one has fastembed without the image library, which the plot needs.
            subprocess.run([sys.executable, str(ROOT / "bench" / "plot.py"), kept.name, plot], check=True)


def run(conversations: list[Conversation], home: Path) -> dict[str, dict[str, dict[str, float]]]:
    """method -> category or "all" -> measure -> percent."""
    services, project_of = opened(home)
    rows: dict[str, dict[str, list[list[float]]]] = {}
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("taking in", total=sum(len(one.events) for one in conversations))
        for conversation in conversations:
            for start in range(0, len(conversation.events), 200):
                batch = conversation.events[start : start + 200]
                services.ingest.take(batch)
                while services.keep.indexer.embed_some(batch=64):  # what a batch has too much of for a moment
                    pass
                bar.advance(task, len(batch))
        services.store.upkeep(force=True)
        task = bar.add_task("asking", total=sum(len(one.questions) for one in conversations))
        rules = compose.RoomSettings.of(load_settings(str(home), {})).recall
        for conversation in conversations:
            scope = Scope((project_of(conversation.folder),))
            for text, category, evidence in conversation.questions:
                question = Question(text, conversation, services, scope)
                for method, ranking in question.rankings(rules).items():
                    row = measured(ranking, conversation, evidence, question)
                    for group in ("all", CATEGORIES.get(category, str(category))):
                        rows.setdefault(method, {}).setdefault(group, []).append(row)
                bar.advance(task)
    services.close()
    return {
        method: {
            group: {
                name: round(100 * statistics.mean(values), 1)
                for name, values in zip(MEASURES, zip(*found, strict=True), strict=True)
            }
            | {"questions": len(found)}
            for group, found in groups.items()
        }
        for method, groups in rows.items()
    }


def show(figures: dict[str, dict[str, dict[str, float]]]) -> None:
    """For people."""
    table = Table("", *MEASURES, title="recall, percent")
    for method, groups in figures.items():
        table.add_row(method, *(str(groups["all"][name]) for name in MEASURES))
    console.print(table)
    names = [name for name in CATEGORIES.values() if name in figures["memlayer"]]
    table = Table("any@5", *("%s (%d)" % (name, figures["memlayer"][name]["questions"]) for name in names))
    for method, groups in figures.items():
        table.add_row(method, *(str(groups[name]["any@5"]) for name in names))
    console.print(table)


if __name__ == "__main__":
    main()
