"""A match in play: people and agents decide in turn, and every decision is kept at once.

While a match lasts its file is `NAME.part`: one line that says what is played, then one line a
decision. Options, seed and decisions are all that follows from: the same line of cards comes back
when it is read again, and the agents go on with the same luck. When the match is over its record
(`trysim.envs.record`) appears as `NAME`, and the other file goes.
"""

import errno
import json
import os
from collections.abc import Callable, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from trysim.agents import make_agent
from trysim.arena.play import stream_seed
from trysim.arena.report import checked_file, write_whole
from trysim.envs.decisions import Agent, decide, new_streams, sees_all_hands
from trysim.envs.engine import next_words
from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.record import Recorder, dumps
from trysim.envs.rules.row import SEAT
from trysim.table.story import Story

FORMAT = "trysim-match"
VERSION = 1
PERSON = "human"
_FIRST = np.zeros(1, np.int64)


def is_person(spec: str) -> bool:
    """Whether a seat's spec is that of a person: `human`, or `human:NAME`."""
    return spec.partition(":")[0] == PERSON


def person_name(spec: str) -> str:
    """The name in `human:NAME`, "" if there is none or an agent sits there."""
    return spec.partition(":")[2] if is_person(spec) else ""


class Match:
    """A match between people and agents, one decision at a time.

    `row` is the table itself, for whoever may see it all; `seats` are the specs of who sits where,
    `story` is what has been decided. Raises BadInput for anything wrong.
    """

    def __init__(
        self,
        game: Game,
        options: Mapping[str, Any],
        seats: Sequence[str],
        seed: int,
        path: Path | None = None,
        make: Callable[[str, Game], Agent] = make_agent,
    ) -> None:
        """Begin a match, kept in `path`; `make` makes the agents."""
        if path is not None:
            check_free(path)
        self.game, self.options = game, game.complete_options(options)
        self.seats, self.seed = list(seats), seed
        self.agents = [None if is_person(spec) else make(spec, game) for spec in self.seats]
        self._check_seats()
        self.row = game.new_row(self.options, seed)
        game.kernels.begin(self.row)
        game.kernels.settle(self.row)
        self._streams = new_streams([stream_seed(seed, 0)], len(self.seats))
        self._recorder = Recorder(game, self.row, seed, self.seats)
        self.story = Story(game)
        self.story.begin(self.row)
        self.path, self._file = path, _opened(path, "xb")
        self._write({"format": FORMAT, "version": VERSION, "game": game.name,
                     "options": self.options, "seats": self.seats, "seed": seed})  # fmt: skip

    def _check_seats(self) -> None:
        n = self.game.n_players(self.options)
        if len(self.seats) != n:
            raise BadInput(f"{self.game.name}: {len(self.seats)} seats are given; {n} play")
        for agent in self.agents:
            if agent is not None and sees_all_hands(agent):
                raise BadInput(f"{agent.spec} sees all hands: it plays in the arena only")

    @classmethod
    def go_on(cls, path: Path, make: Callable[[str, Game], Agent] = make_agent) -> "Match":
        """The match that was broken off and is kept in `path`."""
        about, *decisions = _lines(_part(path))
        try:
            game = game_named(about["game"])
            match = cls(game, about["options"], about["seats"], about["seed"], make=make)
            for seat, text in decisions:
                match._again(seat, text)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"cannot go on with {_part(path)}: {error}") from None
        match.path, match._file = path, _opened(path, "ab")
        match._finish()  # a match may have been broken off between its last card and its record
        return match

    # Whose turn it is ---------------------------------------------------------------------------
    @property
    def turn(self) -> int | None:
        """The seat to act; None when the match is over."""
        return None if self.is_over else int(self.row[SEAT])

    @property
    def is_over(self) -> bool:
        """Whether the match is over."""
        return self.game.is_over(self.row)

    @property
    def waits_for_person(self) -> bool:
        """Whether it is a person's turn."""
        return not self.is_over and self.agents[int(self.row[SEAT])] is None

    def legal(self) -> list[str]:
        """The texts of the actions open to the seat to act."""
        return [self.game.action_text(self.row, a) for a in self.game.legal_actions(self.row)]

    # Deciding -----------------------------------------------------------------------------------
    def act(self, action: str) -> None:
        """A person's decision; BadInput, with nothing changed, if it is not legal."""
        if self.is_over:
            raise BadInput("the match is over")
        if not self.waits_for_person:
            raise BadInput(f"it is the turn of seat {self.turn}, where {self._spec()} sits")
        number = self.game.action_number(self.row, action)
        self.game.check_legal(self.row, number)
        self._carry_out(number)

    def let_agent_act(self) -> str:
        """Let the agent whose turn it is decide; the text of what it did."""
        seat = int(self.row[SEAT])
        agent = self.agents[seat]
        if self.is_over or agent is None:
            raise BadInput("it is no agent's turn")
        number = int(decide(self.game, self.row[None], _FIRST, [agent], _FIRST, self._streams)[0])
        self.game.check_legal(self.row, number)
        text = self.game.action_text(self.row, number)
        self._carry_out(number)
        return text

    def let_agents_act(self) -> None:
        """Let agents decide until it is a person's turn or the match is over."""
        while not self.is_over and not self.waits_for_person:
            self.let_agent_act()

    def _spec(self) -> str:
        return self.seats[int(self.row[SEAT])]

    def _carry_out(self, number: int) -> None:
        seat, text = int(self.row[SEAT]), self.game.action_text(self.row, number)
        self._write([seat, text])  # first: what cannot be kept does not happen
        self._recorder.note(self.row, number)
        self.game.kernels.step(self.row, number)
        self._recorder.note_result(self.row)
        self.story.note(seat, text, self.row)
        self._finish()

    def _again(self, seat: int, text: str) -> None:
        """Carry out a decision that was read; agents' luck moves on as it did."""
        if self.is_over or seat != int(self.row[SEAT]):
            raise BadInput(f"{text} by seat {seat}: it is not its turn")
        number = self.game.action_number(self.row, text)
        self.game.check_legal(self.row, number)
        if self.agents[seat] is not None:
            next_words(self._streams, _FIRST, self.row[[SEAT]], np.empty(1, np.int64))
        self._carry_out(number)

    # Keeping ------------------------------------------------------------------------------------
    def record(self) -> dict[str, Any]:
        """The record of the finished match."""
        return self._recorder.record(self.row)

    def _write(self, thing: Any) -> None:
        if self._file is None or self.path is None:
            return
        line, end = (json.dumps(thing, ensure_ascii=False) + "\n").encode(), self._file.tell()
        try:
            if self._file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._file.truncate(end)
            self._file.seek(end)
            raise BadInput(f"cannot write {_part(self.path)}: {error.strerror}") from None

    def _finish(self) -> None:
        """When the match is over: its record, whole, in the place of its decisions."""
        if not self.is_over or self._file is None or self.path is None:
            return
        write_whole(self.path, (dumps(self.record()) + "\n").encode())
        self.close()
        _part(self.path).unlink()

    def close(self) -> None:
        """Let go of the file; the match can be gone on with."""
        if self._file is not None:
            self._file.close()
            self._file = None


def is_unfinished(path: Path) -> bool:
    """Whether a match that is kept in `path` waits to be gone on with."""
    return bool(path.name) and _part(path).is_file()  # `.` and `/` have no name


def check_free(path: Path) -> None:
    """BadInput, saying what to do, if a match is kept in `path` already."""
    checked_file(path)
    if path.exists():
        raise BadInput(f"{path} holds a finished match: give another file, or watch it")
    if is_unfinished(path):
        raise BadInput(f"{path} holds a match that is not over: go on with it, or another file")


def _opened(path: Path | None, mode: Literal["xb", "ab"]) -> FileIO | None:
    return None if path is None else _part(path).open(mode, buffering=0)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _lines(path: Path) -> list[Any]:
    """What stands in the file of a match; a last line that was cut off is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}") from None
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        write_whole(path, whole.encode())
    try:
        lines = [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        raise BadInput(f"cannot go on with {path}: {error}") from None
    if not lines or not isinstance(lines[0], dict) or lines[0].get("format") != FORMAT:
        raise BadInput(f"{path} is no match that was broken off")
    if lines[0].get("version") != VERSION:
        raise BadInput(f"{path}: version {lines[0].get('version')!r}; this release reads {VERSION}")
    return lines
