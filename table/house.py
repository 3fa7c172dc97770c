"""A house with many tables: who sits where, who may see what, and agents that move by themselves.

Every table is kept in the house's folder: `ID.jsonl` its record, `ID.jsonl.part` while it lasts
(`trysim.table.match`), `ID.seats.json` who has taken which seat. A house that is opened again has
all its tables again. A seat belongs to whoever has its token; only digests of tokens are kept.
"""

import asyncio
import hashlib
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from trysim.agents import Agent, make_agent
from trysim.arena.pool import end_with_parent
from trysim.arena.report import write_whole
from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.record import read
from trysim.envs.rules.row import NOBODY, SEAT
from trysim.envs.texts import Player, Text
from trysim.table.match import Match, is_person
from trysim.table.story import Story

MAX_TABLES = 1000
MAX_PACE = 10.0  # seconds
_SETTING_LIMITS = {"worlds": 2000, "iterations": 20_000, "ms": 2000, "endgame": 6}
_OPEN_KINDS = ("random", "greedy", "expert", "pimc", "ismcts", "policy", "search", "team")
_NAME = re.compile(r"[\w .'-]{1,24}")  # of a person


@dataclass
class Table:
    """A table of the house.

    `match` is None where only a story is told (a record). `takers` are the digests of the tokens of
    those who have taken a seat; agents' seats have none.
    """

    id: str
    game: Game
    options: dict[str, Any]
    seats: list[str]
    story: Story
    match: Match | None = None
    pace: float = 0.8
    takers: list[str | None] = field(default_factory=list)
    version: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    broken: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the match is over."""
        return self.match is None or self.match.is_over

    @property
    def has_people(self) -> bool:
        """Whether a person sits here."""
        return any(is_person(spec) for spec in self.seats)

    def seat_of(self, token: str) -> int | None:
        """The seat that a token belongs to, None for a token of nobody here."""
        digest = _digest(token) if token else ""
        return self.takers.index(digest) if digest and digest in self.takers else None

    def eyes(self, token: str, wanted: int | None = None) -> int | None:
        """Through whose eyes the bearer of a token sees the table: None sees all hands.

        While people play, everybody sees what his seat sees, others what everybody knows; else
        what is `wanted`.
        """
        if self.is_over or not self.has_people:
            return wanted
        seat = self.seat_of(token)
        return NOBODY if seat is None else seat

    def change(self) -> None:
        """Let everybody who looks on know that something has changed."""
        self.version += 1
        self.changed.set()
        self.changed = asyncio.Event()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class NoTable(BadInput):
    """The house has no table of that id."""


class House:
    """All tables. Its methods are called from one event loop."""

    def __init__(self, folder: Path, agents: Sequence[str] = (), pace: float = 0.8) -> None:
        """Open a house whose tables are kept in `folder`.

        `agents` are further specs that may be asked for, whatever they are; BadInput if the folder
        cannot be used.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot use {folder}: {error.strerror}") from None
        self.folder, self.pace = folder, pace
        self.agents = list(agents)
        self.tables: dict[str, Table] = {}
        self.complaints: list[str] = []
        self._made: dict[tuple[str, str], Agent] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._worker = ThreadPoolExecutor(1)  # agents are asked one at a time: they share memory
        self._compiler: ProcessPoolExecutor | None = None
        self.is_closing = False
        for path in sorted(folder.glob("*.jsonl*")):
            self._open_again(path)

    # Agents -------------------------------------------------------------------------------------
    def agent(self, spec: str, game: Game) -> Agent:
        """The agent of a spec that this house lets in; the same for all tables."""
        if spec not in self.agents:
            check_open(spec)
        key = (spec, game.name)
        if key not in self._made:
            self._made[key] = make_agent(spec, game)
        return self._made[key]

    async def prepare(self, spec: str, game: Game) -> Agent:
        """The agent of a spec, after what it needs is compiled, by another process meanwhile."""
        if spec not in self.agents:
            check_open(spec)
        if (spec, game.name) not in self._made:
            if self._compiler is None:
                self._compiler = ProcessPoolExecutor(1, get_context("spawn"), end_with_parent)
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._compiler, _compile, spec, game.name)
        agent: Agent = await self.ask(self.agent, spec, game)
        return agent

    async def ask(self, do: Callable[..., Any], *arguments: Any) -> Any:
        """Let agents think without keeping others waiting."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, do, *arguments)

    # Tables -------------------------------------------------------------------------------------
    def table(self, name: str) -> Table:
        """The table of that id; NoTable if there is none."""
        try:
            return self.tables[name]
        except KeyError:
            raise NoTable(Text("there is no table {name}", name=name)) from None

    async def begin(
        self,
        game: str,
        options: Mapping[str, Any],
        seats: Sequence[str],
        seed: int | None = None,
        pace: float | None = None,
    ) -> Table:
        """Begin a match; BadInput for anything wrong, and then nothing is begun."""
        if len(self.tables) >= MAX_TABLES:
            raise BadInput(Text("the house is full: {n} tables", n=MAX_TABLES))
        if pace is not None and not 0 <= pace <= MAX_PACE:
            raise BadInput(f"pace is {pace:g}: 0 to {MAX_PACE:g} seconds are allowed")
        found = game_named(game)
        for spec in seats:
            _check_seat(spec)
            if not is_person(spec):
                await self.prepare(spec, found)
        name = secrets.token_urlsafe(6)
        seed = secrets.randbits(53) if seed is None else seed
        path = self.folder / f"{name}.jsonl"
        match = await self.ask(Match, found, options, seats, seed, path, self.agent)
        table = self._seat(name, match)
        table.pace = self.pace if pace is None else float(pace)
        self._keep_takers(table)
        self.start(table)
        return table

    def show(self, record: Mapping[str, Any]) -> Table:
        """A table that tells a record's story; it is not kept. BadInput if the record is wrong."""
        if len(self.tables) >= MAX_TABLES:
            raise BadInput(Text("the house is full: {n} tables", n=MAX_TABLES))
        return self._tell(secrets.token_urlsafe(6), record)

    def take_seat(self, table: Table, seat: int) -> str:
        """Give a free seat to somebody: its token. BadInput if it is not free."""
        if not 0 <= seat < len(table.seats) or not is_person(table.seats[seat]):
            raise BadInput(Text("no person may sit down at seat {seat}", seat=seat + 1))
        if table.takers[seat] is not None:
            raise BadInput(Text("seat {seat} is taken", seat=seat + 1))
        token = secrets.token_urlsafe(24)
        table.takers[seat] = _digest(token)
        self._keep_takers(table)
        table.change()
        return token

    def act(self, table: Table, token: str, action: str, number: int | None = None) -> None:
        """A person's decision; BadInput, saying why not, if it cannot be.

        `number` is which decision it is meant to be: the same one sent twice counts once.
        """
        seat = table.seat_of(token)
        if seat is None:
            raise BadInput(Text("you do not sit at this table: take a seat first"))
        if table.match is None or table.match.is_over:
            raise BadInput(Text("the match is over"))
        if number is not None and number != len(table.story):
            raise BadInput(Text("the table has moved on since"))
        if table.match.turn != seat:
            raise BadInput(Text("it is the turn of {player}", player=Player(table.match.turn or 0)))
        table.match.act(action)
        table.change()

    def start(self, table: Table) -> None:
        """Let the agents at a table move by themselves from now on; needs a running event loop."""
        if table.match is not None and not table.is_over:
            task = asyncio.create_task(self._run(table, table.match))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def start_all(self) -> None:
        """Let the agents move at all tables."""
        for table in self.tables.values():
            self.start(table)

    def hang_up(self) -> None:
        """End the streams of all tables: the house is about to close."""
        self.is_closing = True
        for table in self.tables.values():
            table.change()

    def close(self) -> None:
        """Stop everything; what is not over can be gone on with."""
        for task in self._tasks:
            task.cancel()
        self._worker.shutdown(wait=True)
        if self._compiler is not None:
            self._compiler.shutdown(wait=True, cancel_futures=True)
        for table in self.tables.values():
            if table.match is not None:
                table.match.close()

    async def _run(self, table: Table, match: Match) -> None:
        while not match.is_over:
            if match.waits_for_person:
                await table.changed.wait()
                continue
            await asyncio.sleep(table.pace)
            try:
                await self.ask(match.let_agent_act)
            except Exception as error:  # an agent of one's own may do anything
                told = str(error) if isinstance(error, BadInput) else repr(error)
                table.broken = f"{table.seats[int(match.row[SEAT])]}: {told}"
                table.change()
                return
            table.change()

    # Opening and keeping ------------------------------------------------------------------------
    def _seat(self, name: str, match: Match) -> Table:
        table = Table(name, match.game, match.options, match.seats, match.story, match, self.pace)
        table.takers = [None] * len(match.seats)
        self.tables[name] = table
        return table

    def _tell(self, name: str, record: Mapping[str, Any]) -> Table:
        story = Story.of_record(record)
        seats = [str(spec) for spec in record.get("agents", [])]
        n = story.game.n_players_of(story.row(0))
        seats += [""] * (n - len(seats))
        options = story.game.options_of(story.row(0))
        table = Table(name, story.game, options, seats[:n], story, takers=[None] * n)
        self.tables[name] = table
        return table

    def _open_again(self, path: Path) -> None:
        """A table of an earlier day; what cannot be read is told of and left as it is."""
        name = path.name.partition(".")[0]
        try:
            if path.suffix == ".part":
                table = self._seat(name, Match.go_on(path.with_suffix(""), self.agent))
            else:
                table = self._tell(name, next(read(path)))
            takers = path.with_name(f"{name}.seats.json")
            if takers.exists():
                table.takers = list(json.loads(takers.read_text(encoding="utf-8")))
        except (BadInput, OSError, ValueError, StopIteration) as error:
            self.complaints.append(f"{path}: {error}")

    def _keep_takers(self, table: Table) -> None:
        content = json.dumps(table.takers).encode()
        write_whole(self.folder / f"{table.id}.seats.json", content)


def _compile(spec: str, game: str) -> None:
    """Let numba keep on disk what an agent needs."""
    make_agent(spec, game)


def _check_seat(spec: Any) -> None:
    if not isinstance(spec, str):
        raise BadInput(f"a seat is human, human:NAME or an agent, not {spec!r}")
    name = spec.partition(":")[2]
    if is_person(spec) and name and not _NAME.fullmatch(name):
        raise BadInput(
            Text("{name} is no name: letters, figures, spaces, at most 24", name=repr(name))
        )


def check_open(spec: str) -> None:
    """BadInput if an agent is not for everybody who can open the page.

    Files are not (whoever runs the house may let more in), nor what thinks for too long.
    """
    parts = re.split(r"[:+,]", spec)
    if parts[0] not in _OPEN_KINDS or any("/" in part or "." in part for part in parts):
        raise BadInput(
            Text(
                "agent {spec}: here are human, {kinds} without files; more: trysim serve --agents",
                spec=repr(spec),
                kinds=", ".join(_OPEN_KINDS),
            )
        )
    for part in parts:
        if part in ("python", "sb3", "oracle"):
            raise BadInput(
                Text(
                    "agent {spec}: {part} is let in by trysim serve --agents only",
                    spec=repr(spec),
                    part=part,
                )
            )
        name, _, value = part.partition("=")
        if name in _SETTING_LIMITS and not _is_at_most(value, _SETTING_LIMITS[name]):
            most = _SETTING_LIMITS[name]
            raise BadInput(
                Text(
                    "agent {spec}: {name} is at most {most} here",
                    spec=repr(spec),
                    name=name,
                    most=most,
                )
            )


def _is_at_most(value: str, most: float) -> bool:
    try:
        return float(value) <= most
    except ValueError:
        return True  # `make_agent` says what is wrong with it
