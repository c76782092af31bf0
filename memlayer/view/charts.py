"""Charts of stacked bars, and maps: places computed here, drawn by templates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from memlayer.view.texts import clean, spoken
from memlayer.view.visit import TEMPLATES
from memlayer.wire.record import MapFound, MapNode

WIDTH, HEIGHT = 640, 190
LEFT, RIGHT, TOP, BOTTOM = 46, 6, 10, 26
LABELS, LABEL_CHARS, CHAR_WIDTH = 10, 18, 8.0  # below the bars
COLUMN, ROW, MARGIN, HEAD = 286, 28, 20, 34  # of a map
LABEL_UNITS, UNIT = 30, 7.1  # of a node: half the width of a Hangul syllable, in pixels
HEADS = ("", "beside it", "one step on", "two steps on")
BLOCKING = "blocked_by"
Point = tuple[float, float]


class Bar(NamedTuple):
    """A bar; a value for each series."""

    label: str
    values: Sequence[int]


def bars(rows: Sequence[Bar], title: str, width: int = WIDTH) -> Markup:
    """Return a chart of stacked bars; "" where all are 0."""
    top = max((sum(row.values) for row in rows), default=0)
    if not top:
        return Markup("")
    limit, step = _scale(top)
    tall, room = HEIGHT - TOP - BOTTOM, (width - LEFT - RIGHT) / len(rows)
    lines = [(round(TOP + tall * (1 - at * step / limit), 1), _short(at * step)) for at in range(limit // step + 1)]
    every = max(1, math.ceil(len(rows) / LABELS))
    boxes, labels = list[dict[str, object]](), list[tuple[float, str]]()
    for place, row in enumerate(rows):
        x, y, gap = LEFT + room * place, float(TOP + tall), min(6.0, room * 0.2)
        told = f"{clean(row.label)}: {', '.join(f'{value:,}' for value in row.values)}"
        for series, value in enumerate(row.values, 1):
            part = tall * value / limit
            y -= part
            wide = min(room - gap, 60.0)
            if value:
                box = {"x": x + (room - wide) / 2, "y": y, "wide": wide, "tall": max(part, 1.0)}
                boxes.append({"series": series, "told": told, **{name: round(at, 1) for name, at in box.items()}})
        if place % every == 0:
            labels.append((round(x + room / 2, 1), _label(row.label, int(room * every / CHAR_WIDTH))))
    drawn = TEMPLATES.get_template("bars.svg").render(
        title=title, width=width, height=HEIGHT, left=LEFT, right=width - RIGHT, lines=lines, boxes=boxes, labels=labels
    )
    return Markup(drawn)


def _scale(top: int) -> tuple[int, int]:
    """Return a round limit of the bars, and its step."""
    step = 10 ** max(0, math.floor(math.log10(top / 4))) if top >= 4 else 1
    step = next(step * by for by in (1, 2, 5, 10) if step * by * 5 >= top)
    return math.ceil(top / step) * step, step


def _short(number: int) -> str:
    unit = next((one for one in ((1_000_000, "M"), (1000, "k")) if number >= one[0]), (1, ""))
    return f"{number / unit[0]:g}{unit[1]}"


def _label(text: str, most: int) -> str:
    text, most = clean(text), max(3, min(most, LABEL_CHARS))
    if len(text) == 10 and text[4] == "-":
        return text[5:]  # of a date the day
    return text if len(text) <= most else text[: most - 1] + "…"


# -- a map: the middle left, each step a column


def map_drawn(found: MapFound, address: Callable[[MapNode], str]) -> Markup:
    """Return the picture of a map; "" for none."""
    nodes = {node.id: node for node in found.nodes}
    if len(nodes) < 2:
        return Markup("")
    places = _placed(found)
    labels = {id_: _cut(node.title) for id_, node in nodes.items()}
    ends = {id_: (x + 20 + _units(labels[id_]) * UNIT, y) for id_, (x, y) in places.items()}
    columns = max(node.steps for node in nodes.values()) + 1
    edges = []
    for edge in found.edges:
        near, far = sorted((edge.source, edge.target), key=lambda id_: places[id_])
        is_level = places[near][0] == places[far][0]
        curve = _curve(places[near] if is_level else ends[near], places[far], is_level)
        edges.append((edge.rel == BLOCKING, edge.rel.replace("_", " "), *curve))
    drawn = TEMPLATES.get_template("map.svg").render(
        middle=nodes[found.middle], width=MARGIN + COLUMN * columns, height=max(y for _, y in places.values()) + ROW,
        heads=[(MARGIN + COLUMN * at, HEADS[at]) for at in range(1, columns)], edges=edges,
        nodes=[(*places[id_], node, labels[id_], address(node)) for id_, node in nodes.items()],
    )  # fmt: skip
    return Markup(drawn)


def _units(text: str) -> int:
    return sum(2 if sign > "\u2e7f" else 1 for sign in text)


def _cut(text: str) -> str:
    text = spoken(text)
    if _units(text) <= LABEL_UNITS:
        return text
    while _units(text) > LABEL_UNITS - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def _placed(found: MapFound) -> dict[str, Point]:
    """Return the place of each node, level with its neighbours."""
    beside: dict[str, list[str]] = defaultdict(list)
    for edge in found.edges:
        beside[edge.source].append(edge.target)
        beside[edge.target].append(edge.source)
    by_step: dict[int, list[MapNode]] = defaultdict(list)
    for node in found.nodes:
        by_step[node.steps].append(node)
    tallest = max(map(len, by_step.values()))
    places: dict[str, Point] = {}
    for step, nodes in sorted(by_step.items()):
        nodes.sort(key=lambda node: (_level(beside[node.id], places), node.type, node.title))
        first = HEAD + ROW * (tallest - len(nodes) + 1) / 2
        places.update((node.id, (MARGIN + COLUMN * step, first + ROW * at)) for at, node in enumerate(nodes))
    return places


def _level(beside: list[str], places: dict[str, Point]) -> float:
    known = [places[one][1] for one in beside if one in places]
    return sum(known) / len(known) if known else 0.0


def _curve(start: Point, end: Point, is_level: bool) -> tuple[Point, Point, Point, Point]:
    (x1, y1), (x2, y2) = start, end
    bend = -18.0 if is_level else max(24.0, (x2 - x1) / 2)
    return start, (x1 + bend, y1), (x2 + (bend if is_level else -bend), y2), end
