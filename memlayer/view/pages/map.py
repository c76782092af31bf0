"""Map: files, issues, people and tasks around one thing."""

from __future__ import annotations

from starlette.responses import Response

from memlayer.view.charts import map_drawn
from memlayer.view.visit import Visit
from memlayer.wire import record as ops

NODES = 60


def page(visit: Visit) -> Response:
    """Return the surroundings of a thing as a picture and a list."""
    name = visit.text("of")
    found = visit.ask(ops.Map(name, visit.folder, NODES))
    if not name and found.hubs:
        found = visit.ask(ops.Map(found.hubs[0].id, visit.folder, NODES))
    picture = map_drawn(found, lambda node: visit.address("/map", of=node.citation or node.id))
    return visit.page("map.html", "Map", name=name, found=found, picture=picture)
