"""Projects, and the choice of the one that a folder belongs to."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from memlayer.errors import UserError
from memlayer.view.visit import Visit, endpoint
from memlayer.wire import record as ops


def listing(visit: Visit) -> Response:
    """Return every project; the shown one's folder can be given to another."""
    rows = visit.ask(ops.Projects()).projects
    can_choose = bool(visit.folder) and not visit.keys.is_read_only
    return visit.page("projects.html", "Projects", rows=rows, folder=visit.folder, can_choose=can_choose)


def choose(visit: Visit) -> Response:
    """Join, move or part the shown project's folder, as `memlayer project` does."""
    how, name = visit.form.get("how", ""), visit.form.get("name", "")
    if how not in ("join", "move", "part") or (how == "part") == bool(name) or not visit.folder:
        raise UserError("how: join or move with a project's name, or part, for the folder of one project")
    done = visit.ask(ops.ChooseProject(visit.folder, name, how == "move"))
    told = f"{visit.folder} belongs to {done.project} from now on. To take it back, join {done.former_id}."
    return visit.back("/projects", told, project=done.project_id)


ROUTES = (Route("/projects", endpoint(listing)), Route("/projects", endpoint(choose), methods=["POST"]))
