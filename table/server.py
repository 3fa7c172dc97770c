"""The house as a web application: pages, a small JSON interface, and a stream of events a table.

What a browser is sent follows from what its seat may see (`Table.eyes`), never from the whole
table. The page itself knows no rules: legal actions, labels and reasons all come from here.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from trysim.agents import SPECS, Agent
from trysim.agents.policy import PolicyAgent
from trysim.agents.search.played_out import worths_if
from trysim.agents.thoughts import think
from trysim.envs.decisions import Decisions
from trysim.envs.games import GAMES, BadInput, Game, whole_number
from trysim.envs.record import dumps, read_text
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import SEAT
from trysim.envs.table_view import TITLES, action_label, player_name
from trysim.envs.texts import Text
from trysim.table.cards import sprite
from trysim.table.house import House, NoTable, Table
from trysim.table.how_to_play import HOW_TO_PLAY
from trysim.table.languages import ENGLISH, LANGUAGES, catalogue, check_language, said
from trysim.table.match import is_person
from trysim.table.pictures import picture, seat_names, thought_told

PAGES = Path(__file__).parent / "pages"
MAX_BODY = 16 << 20  # bytes of a request
_HEARTBEAT = 15.0  # seconds after which a quiet stream tells that it is there
_VALUE_WORLDS = 40  # in which a policy's own play is looked at for its value
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "testserver")

Handler = Callable[[Request], Awaitable[Response]]


def application(house: House, hosts: tuple[str, ...] = LOOPBACK) -> Starlette:
    """The web application of a house; `hosts` are the names it may be called by."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        house.start_all()
        yield
        house.close()

    routes = [
        Route("/", _page),
        Route("/cards.svg", _cards),
        Route("/api/house", _house),
        Route("/api/tables", _begin, methods=["POST"]),
        Route("/api/records", _show, methods=["POST"]),
        Route("/api/tables/{id}", _table),
        Route("/api/tables/{id}/seats/{seat:int}", _take_seat, methods=["POST"]),
        Route("/api/tables/{id}/events", _events),
        Route("/api/tables/{id}/act", _act, methods=["POST"]),
        Route("/api/tables/{id}/hint", _hint, methods=["POST"]),
        Route("/api/tables/{id}/moments/{number:int}", _moment),
        Route("/api/tables/{id}/moments/{number:int}/thought", _thought),
        Route("/api/tables/{id}/record", _record),
        Mount("/static", StaticFiles(directory=PAGES)),
    ]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
        Middleware(GZipMiddleware, minimum_size=1000),
    ]
    app = Starlette(
        routes=routes,
        middleware=middleware,
        lifespan=lifespan,
        exception_handlers={BadInput: _complain},
    )
    app.state.house = house
    return app


async def _complain(request: Request, error: Exception) -> Response:
    """What is wrong with a request, in words."""
    asked = request.query_params.get("language", ENGLISH)
    language = asked if asked in LANGUAGES else ENGLISH
    table = _house_of(request).tables.get(request.path_params.get("id", ""))
    name = seat_names(table.seats, language) if table else player_name
    status = 404 if isinstance(error, NoTable) else 400
    return JSONResponse({"error": said(error.args[0], language, name)}, status)


# What is asked ----------------------------------------------------------------------------------
def _house_of(request: Request) -> House:
    house: House = request.app.state.house
    return house


def _table_of(request: Request) -> Table:
    return _house_of(request).table(request.path_params["id"])


def _language(request: Request) -> str:
    return check_language(request.query_params.get("language", ENGLISH))


def _token(request: Request) -> str:
    return request.query_params.get("token", "")


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object that was sent; BadInput if it is none."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise BadInput("send JSON, as application/json")
    content = await _content(request)
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise BadInput("this is no JSON") from None
    if not isinstance(body, dict):
        raise BadInput("a JSON object is needed")
    return body


async def _content(request: Request) -> bytes:
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MAX_BODY:
            raise BadInput(f"too much: at most {MAX_BODY >> 20} MB")
    return content


def _of_kind(body: dict[str, Any], name: str, kind: type, default: Any = None) -> Any:
    """A field of what was sent; BadInput if it is of another kind."""
    value = body.get(name, default)
    if value is default and name not in body:
        return default
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise BadInput(f"{name} is {value!r}: {_KINDS[kind]} is needed")
    return value


_KINDS = {
    str: "a text",
    int: "a whole number",
    dict: "an object",
    list: "a list",
    float: "a number",
}


# Pages ------------------------------------------------------------------------------------------
async def _page(request: Request) -> Response:
    return FileResponse(PAGES / "index.html", headers={"Cache-Control": "no-cache"})


async def _cards(request: Request) -> Response:
    letters = request.query_params.get("letters", "latin")
    return Response(
        _sprite(letters), media_type="image/svg+xml", headers={"Cache-Control": "max-age=3600"}
    )


@cache
def _sprite(letters: str) -> str:
    return sprite(letters)


async def _house(request: Request) -> Response:
    """Games, options, agents, texts, tables."""
    house, language = _house_of(request), _language(request)
    texts = {text: known.get(language, text) for text, known in catalogue().items()}
    tables = [_in_short(table, language) for table in reversed(house.tables.values())]
    return JSONResponse(
        {
            "games": [_game_told(game) for game in GAMES.values()],
            "agents": _agents_offered(house),
            "specs": {name: spec.usage for name, spec in SPECS.items()},
            "languages": LANGUAGES,
            "texts": texts if language != ENGLISH else {},
            "tables": tables,
        }
    )


def _game_told(game: Game) -> dict[str, Any]:
    options = [
        {
            "name": option.name,
            "default": option.default,
            "meaning": option.meaning,
            "choices": list(option.choices),
            "low": option.low,
            "high": option.high,
        }
        for option in game.options
    ]
    return {
        "name": game.name,
        "title": TITLES[game.name],
        "seats": game.n_seats,
        "options": options,
        "how_to_play": HOW_TO_PLAY[game.name],
    }


def _agents_offered(house: House) -> list[str]:
    """Agents that may be chosen from a list; others can be typed."""
    known = ["expert", "greedy", "random", "pimc:worlds=100", "ismcts:iterations=1000"]
    return ["policy", *known, "search", *house.agents]


def _in_short(table: Table, language: str) -> dict[str, Any]:
    name = seat_names(table.seats, language)
    return {
        "id": table.id,
        "game": table.game.name,
        "title": TITLES[table.game.name],
        "seats": [name(seat) for seat in range(len(table.seats))],
        "is_person": [is_person(spec) for spec in table.seats],
        "taken": [taker is not None for taker in table.takers],
        "over": table.is_over,
        "decisions": len(table.story),
    }


# Tables -----------------------------------------------------------------------------------------
async def _begin(request: Request) -> Response:
    house, body = _house_of(request), await _body(request)
    game = _of_kind(body, "game", str, "")
    options, seats = _of_kind(body, "options", dict, {}), _of_kind(body, "seats", list, [])
    seed = _of_kind(body, "seed", int)
    if seed is not None and seed < 0:
        raise BadInput(f"seed is {seed}: whole numbers from 0 are allowed")
    pace = _of_kind(body, "pace", (int, float)) if "pace" in body else None  # type: ignore[arg-type]
    table = await house.begin(game, options, seats, seed, pace)
    return JSONResponse(_in_short(table, _language(request)), 201)


async def _show(request: Request) -> Response:
    """Tell the stories of the records of a file."""
    house, content = _house_of(request), await _content(request)
    tables = [house.show(record) for record in read_text(content)]
    if not tables:
        raise BadInput(Text("there is no record in this file"))
    return JSONResponse([_in_short(table, _language(request)) for table in tables], 201)


async def _table(request: Request) -> Response:
    table = _table_of(request)
    deals = table.story.deals() if table.is_over or not table.has_people else []
    about = {"options": table.options, "deals": deals, "you": table.seat_of(_token(request))}
    return JSONResponse({**_in_short(table, _language(request)), **about})


async def _take_seat(request: Request) -> Response:
    table, seat = _table_of(request), int(request.path_params["seat"])
    token = _house_of(request).take_seat(table, seat)
    return JSONResponse({"token": token, "seat": seat}, 201)


async def _act(request: Request) -> Response:
    table, body = _table_of(request), await _body(request)
    action, token = _of_kind(body, "action", str, ""), _of_kind(body, "token", str, "")
    _house_of(request).act(table, token, action, _of_kind(body, "moment", int))
    return JSONResponse(_now(table, token, _language(request)))


async def _record(request: Request) -> Response:
    table = _table_of(request)
    if not table.is_over:
        raise BadInput(Text("the match is not over: its record is not whole yet"))
    path = _house_of(request).folder / f"{table.id}.jsonl"
    if table.match is not None:
        content = dumps(table.match.record()) + "\n"
    elif path.is_file():
        content = path.read_text(encoding="utf-8")
    else:
        raise BadInput(Text("this table tells a record that was sent: it is not kept here"))
    headers = {"Content-Disposition": f'attachment; filename="{table.id}.jsonl"'}
    return Response(content, media_type="application/jsonl", headers=headers)


# What is seen -----------------------------------------------------------------------------------
def _now(table: Table, token: str, language: str) -> dict[str, Any]:
    """The table as it is now, to the bearer of a token."""
    wanted = table.seat_of(token)
    row = table.match.row if table.match is not None else table.story.row(len(table.story))
    return {
        **_seen(table, row, len(table.story), table.eyes(token, wanted), language),
        "you": wanted,
        "version": table.version,
        "broken": table.broken,
    }


def _seen(table: Table, row: Row, number: int, eyes: int | None, language: str) -> dict[str, Any]:
    name = seat_names(table.seats, language)
    last = None
    if number:
        seat, action = table.story.decisions[number - 1]
        last = {"seat": seat, "action": action, "label": said(action_label(action), language, name)}
    return {
        **_in_short(table, language),
        "table": picture(table.game, row, eyes, language, name),
        "moment": number,
        "last": last,
    }


async def _events(request: Request) -> Response:
    """The table after every change, as server-sent events, until nobody listens."""
    table, token, language = _table_of(request), _token(request), _language(request)
    house = _house_of(request)

    async def stream() -> AsyncIterator[str]:
        while not house.is_closing:
            changed = table.changed
            yield f"data: {json.dumps(_now(table, token, language), ensure_ascii=False)}\n\n"
            while not changed.is_set():
                try:
                    await asyncio.wait_for(changed.wait(), _HEARTBEAT)
                except asyncio.TimeoutError:
                    yield ": still here\n\n"

    headers = {
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
        "Content-Encoding": "identity",
    }
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


async def _moment(request: Request) -> Response:
    """The table before some decision, all hands or through a seat's eyes."""
    table, number = _table_of(request), request.path_params["number"]
    eyes = table.eyes(_token(request), _wanted_seat(request, table))
    row = table.story.row(number)
    decision = None
    if number < len(table.story):
        seat, action = table.story.decisions[number]
        decision = {"seat": seat, "action": action}
    seen = _seen(table, row, number, eyes, _language(request))
    return JSONResponse({**seen, "decision": decision})


def _wanted_seat(request: Request, table: Table) -> int | None:
    text = request.query_params.get("seat", "")
    if not text:
        return None
    seat = whole_number(text)
    if seat is None or seat >= len(table.seats):
        raise BadInput(f"seat {text}: there are 0 to {len(table.seats) - 1}")
    return seat


# What agents think ------------------------------------------------------------------------------
async def _hint(request: Request) -> Response:
    """What an agent would do in the seat of the bearer of a token."""
    table, body = _table_of(request), await _body(request)
    seat = table.seat_of(_of_kind(body, "token", str, ""))
    if table.match is None or seat is None or table.match.turn != seat:
        raise BadInput(Text("there is a hint when it is your turn"))
    number = len(table.story)
    told = await _told_by(request, table, _of_kind(body, "agent", str, ""), table.match.row, number)
    return JSONResponse(told)


async def _thought(request: Request) -> Response:
    """What an agent (the one who decided, if none is named) thinks of a decision."""
    table, number = _table_of(request), request.path_params["number"]
    if not table.is_over and table.has_people:
        raise BadInput(Text("what agents think is told when the match is over"))
    if number >= len(table.story):
        raise BadInput(Text("there is no decision {number}", number=number))
    row = table.story.row(number)
    spec = request.query_params.get("agent") or table.seats[int(row[SEAT])]
    return JSONResponse(await _told_by(request, table, spec, row, number))


async def _told_by(
    request: Request, table: Table, spec: str, row: Row, number: int
) -> dict[str, Any]:
    if is_person(spec) or not spec:
        raise BadInput(Text("no agent decides here: name one"))
    language, house = _language(request), _house_of(request)
    agent = await house.prepare(spec, table.game)
    decision = _decision(table, row, number)
    thought, value = await house.ask(_think, agent, decision)
    return {
        "agent": agent.spec,
        **thought_told(thought, value, language, seat_names(table.seats, language)),
    }


def _decision(table: Table, row: Row, number: int) -> Decisions:
    """The decision of the seat to act as it may be asked of any agent."""
    view = table.game.view(row, int(row[SEAT]))[None]
    return Decisions(
        table.game, view, np.array([table.game.kernels.legal(row)]), np.array([number])
    )


def _think(agent: Agent, decision: Decisions) -> tuple[Any, float | None]:
    """A thought, and what a policy expects of its own play from here on."""
    thought, value = think(agent, decision), None
    if isinstance(agent, PolicyAgent) and thought.numbers:
        kind, worths = worths_if(agent, decision, _VALUE_WORLDS)
        if kind:
            value = float(worths[decision.game.action_number(decision.views[0], thought.choice)])
    return thought, value
