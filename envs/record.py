"""Game records: one finished episode is one JSON object on one line (JSON Lines).

A record is complete: it replays without the seed. `Recorder` writes one while a match is played,
`read` reads files, `verify` checks every card, turn, score and reward against the rules, and
`replay_onto` brings a table to any position of a record.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.observation import History
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import CUT, DEAL, DEALS, NOBODY, OVER, PENALTY_DECK, PHASE, SEAT, STRIKE

FORMAT = "trysim-record"
VERSION = 1
_REWARD_TOLERANCE = 1e-9


class RecordError(BadInput):
    """A record is broken, or breaks the rules: the message says where and how."""


# Facts of a finished deal or match --------------------------------------------------------------
def result_of(game: Game, row: Row) -> dict[str, Any]:
    """The `result` of a finished match: rewards by seat, and what else the game decides."""
    words = game.words
    result: dict[str, Any] = {"rewards": [float(reward) for reward in game.returns(row)]}
    if game.name == "sim_lystiv":
        loser = int(row[words["loser"]])
        exits = [int(row[words["exits"] + k]) for k in range(int(row[words["n_exits"]]))]
        result["loser"] = None if loser == NOBODY else loser
        result["exits"] = [seat for seat in exits if seat != loser]
    elif game.name == "semnadtsat":
        winners = int(game.rules.winner_set(row))
        n = game.n_players_of(row)
        result["totals"] = _numbers(row, words["totals"], n)
        result["winners"] = [seat for seat in range(n) if winners >> seat & 1]
    else:
        result["booked"] = _numbers(row, words["booked"], 2)
    return result


def deal_scores(game: Game, row: Row) -> dict[str, Any]:
    """`score` (and `totals` in Семерик) of the last finished deal."""
    words = game.words
    if game.name == "sim_lystiv":
        return {"score": _numbers(row, words["counts"], game.n_players_of(row))}
    if game.name == "semnadtsat":
        return {"score": _numbers(row, words["score"], game.n_players_of(row))}
    return {
        "score": _numbers(row, words["score"], 2),
        "totals": _numbers(row, words["score_totals"], 2),
    }


def penalty_of(game: Game, row: Row) -> dict[str, Any] | None:
    """The penalty of Сім листів once the deck is cut, None before and elsewhere."""
    words = game.words
    if game.name != "sim_lystiv" or row[words["cut"]] == 0:
        return None
    n, loser = game.n_players_of(row), int(row[words["loser"]])
    struck = _numbers(row, words["struck"], n)
    order = [(loser + k) % n for k in range(1, n)]
    return {
        "cut": int(row[words["cut"]]),
        "bottom": game.deck[int(row[words["bottom"]])],
        "blows": int(row[words["blows"]]),
        "strikes": [[s, game.rules.STRIKES[struck[s] - 1]] for s in order if struck[s]],
        "received": _numbers(row, words["received"], n),
    }


def _numbers(row: Row, first: int, n: int) -> list[int]:
    return [int(number) for number in row[first : first + n]]


# Writing ----------------------------------------------------------------------------------------
class Recorder:
    """Writes down one match. Call `note` before each decision and `note_result` after it."""

    def __init__(
        self, game: Game, row: Row, seed: int, agents: Sequence[str], keep_legal: bool = False
    ) -> None:
        """`row` is the table right after the first deal."""
        self._game = game
        self._keep_legal = keep_legal
        self._seed, self._agents = seed, list(agents)
        self._options = game.options_of(row)
        self._deals: list[dict[str, Any]] = []
        self._note_deal(row)

    def note(self, row: Row, action: int) -> None:
        """Note a decision about to be carried out."""
        if row[PHASE] in (CUT, STRIKE):
            return  # the row keeps the penalty
        entry: list[Any] = [int(row[SEAT]), self._game.action_text(row, action)]
        if self._keep_legal:
            legal = self._game.legal_actions(row)
            entry.append([self._game.action_text(row, other) for other in legal])
        self._deals[-1]["actions"].append(entry)

    def note_result(self, row: Row) -> None:
        """Note what the decision led to: the score of a finished deal, the next deal."""
        open_deal = "score" not in self._deals[-1]
        next_deal = row[DEALS] > len(self._deals)
        if open_deal and (next_deal or row[PHASE] in (CUT, STRIKE, OVER)):
            self._deals[-1].update(deal_scores(self._game, row))
        if next_deal:
            self._note_deal(row)

    def _note_deal(self, row: Row) -> None:
        words = self._game.words
        deal: dict[str, Any] = {"dealer": int(row[words["dealer"]]), "hands": self._game.hands(row)}
        if "trump_card" in words:
            deal["trump_card"] = self._game.deck[int(row[words["trump_card"]])]
        deal["actions"] = []
        self._deals.append(deal)

    def record(self, row: Row) -> dict[str, Any]:
        """The record of the finished match."""
        record = {
            "format": FORMAT,
            "version": VERSION,
            "game": self._game.name,
            "options": self._options,
            "seed": self._seed,
            "agents": self._agents,
            "deals": self._deals,
        }
        penalty = penalty_of(self._game, row)
        if penalty is not None:
            record["penalty"] = penalty
        record["result"] = result_of(self._game, row)
        return record


def dumps(record: Mapping[str, Any]) -> str:
    """The record as one line of JSON, without the line's end."""
    return json.dumps(record, ensure_ascii=False, separators=(", ", ": "))


# Reading ----------------------------------------------------------------------------------------
def read(path: str | Path) -> Iterator[dict[str, Any]]:
    """The records of a file; RecordError, naming the line, for one that cannot be read."""
    for line, record in read_lines(path):
        if isinstance(record, RecordError):
            raise RecordError(f"{path}, line {line}: {record}")
        yield record


def read_lines(path: str | Path) -> Iterator[tuple[int, dict[str, Any] | RecordError]]:
    """Line number and record of each line that is not blank; an error stands for a broken line."""
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _parse(line)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None


def read_text(content: bytes) -> Iterator[dict[str, Any]]:
    """The records of a file's content; RecordError, naming the line, for one that is broken."""
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            record = _parse(line)
            if isinstance(record, RecordError):
                raise RecordError(f"line {number}: {record}")
            yield record


def _parse(line: bytes) -> dict[str, Any] | RecordError:
    try:
        record = json.loads(line.decode("utf-8"))
        _check_format(record)
    except RecordError as error:
        return error
    except (ValueError, RecursionError) as error:
        return RecordError(f"not a line of JSON: {error}")
    return dict(record)


def _check_format(record: Any) -> None:
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        raise RecordError(f'not a record: "format" is not "{FORMAT}"')
    version = record.get("version")
    if not _is_whole(version) or version != VERSION:
        raise RecordError(f"record version {version!r}: this release reads version {VERSION}")


# Replaying --------------------------------------------------------------------------------------
def verify(record: Mapping[str, Any]) -> None:
    """Replay a record by the rules; RecordError, naming deal and action, where it departs."""
    _check_format(record)
    game, row = _table_for(record)
    replay = _Replay(game, row, record)
    replay.run()
    replay.check_end()


def open_record(record: Mapping[str, Any], position: int = 0) -> tuple[Game, Row]:
    """A table in the position after `position` decisions of a record."""
    game, row = _table_for(record)
    game.kernels.begin(row)
    replay_onto(game, row, record, position)
    return game, row


def positions(record: Mapping[str, Any]) -> Iterator[Row]:
    """The table before each decision of a record, and at its end; each row is the caller's own.

    RecordError, naming deal and action, where it departs from the rules.
    """
    _check_format(record)
    game, row = _table_for(record)
    replay = _Replay(game, row, record)
    for _ in replay.positions():
        yield row.copy()
    replay.check_end()


def decisions(record: Mapping[str, Any]) -> Iterator[tuple[Row, int]]:
    """The table before each decision of a record, and the number of the action.

    RecordError, naming deal and action, where it departs from the rules.
    """
    _check_format(record)
    game, row = _table_for(record)
    replay = _Replay(game, row, record)
    before: Row | None = None
    for _ in replay.positions():
        if before is not None:
            yield before, replay.action
        before = row.copy()
    replay.check_end()


def replay_onto(
    game: Game,
    row: Row,
    record: Mapping[str, Any],
    position: int,
    history: History | None = None,
) -> None:
    """Bring a table whose match has just begun (nothing dealt) to a position of a record.

    The table's options must be the record's.
    """
    if not isinstance(record, Mapping) or record.get("game") != game.name:
        raise RecordError(f"this is not a record of {game.name}")
    if record_options(game, record) != game.options_of(row):
        raise RecordError("the record's options are not this environment's")
    if not isinstance(position, (int, np.integer)) or position < 0:
        raise RecordError(f"position {position!r}: count decisions from 0")
    replay = _Replay(game, row, record, history)
    if replay.run(int(position)) < position:
        raise RecordError(f"position {position}: the record has {replay.n_done} decisions")


def record_options(game: Game, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record's options, complete; unknown names are left out, as the format asks."""
    options = _of_type(record, "options", dict)
    known = [option.name for option in game.options]
    return game.complete_options({name: options[name] for name in options if name in known})


def give_deal(game: Game, row: Row, deal: Any) -> None:
    """Deal what a mapping says: `dealer` and `hands` (and `trump_card`), or a whole `deck`."""
    if not isinstance(deal, Mapping) or not ("hands" in deal or "deck" in deal):
        raise BadInput(
            'a deal is {"dealer": seat, "hands": [[…], …]} or {"dealer": …, "deck": […]}'
        )
    if "deck" in deal:
        game.give_deck(row, deal["deck"], deal.get("dealer"))
        return
    dealer = deal.get("dealer", int(row[game.words["dealer"]]))
    game.give_deal(row, deal["hands"], dealer, deal.get("trump_card"))


def _table_for(record: Mapping[str, Any]) -> tuple[Game, Row]:
    game = game_named(_of_type(record, "game", str))
    row = game.new_row(record_options(game, record), 0)
    game.kernels.begin(row)
    return game, row


def _of_type(record: Mapping[str, Any], key: str, kind: type) -> Any:
    value = record.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RecordError(f'"{key}" is missing or no {_KINDS[kind]}')
    return value


_KINDS = {str: "text", dict: "object", list: "list", int: "whole number"}


class _Replay:
    """Plays a record on a table, checking every turn and card."""

    def __init__(
        self, game: Game, row: Row, record: Mapping[str, Any], history: History | None = None
    ) -> None:
        self.game, self.row, self.record = game, row, record
        self.n_done = 0  # decisions
        self.action = -1  # the last one
        self._history = history
        self._where = "before the first deal"
        self._deals = _of_type(record, "deals", list)

    def run(self, until: int | None = None) -> int:
        """Replay `until` so many decisions are done (all of them by default); returns how many."""
        for _ in self.positions(until is None):
            if self.n_done == until:
                break
        return self.n_done

    def positions(self, check_deals: bool = True) -> Iterator[None]:
        """Stop before each decision, and at the end."""
        for number, deal in enumerate(self._deals, 1):
            self._where = f"deal {number}"
            if self.row[PHASE] != DEAL:
                raise self._error("the match was over before")
            self._guard(self._give_deal, deal)
            for place, entry in enumerate(self._list_in(deal, "actions"), 1):
                yield
                self._where = f"deal {number}, action {place}"
                self._guard(self._act, entry)
            self._where = f"deal {number}"
            if check_deals:
                self._check_deal(deal)
        self._where = "penalty"
        if self.row[PHASE] == PENALTY_DECK:
            self._guard(self._give_penalty)
            if self._history is not None:
                self._note_history(None)
            for entry in self._penalty_entries():
                yield
                self._guard(self._act, entry)
        yield

    def check_end(self) -> None:
        """Check that the match is over, and its result."""
        self._where = "result"
        if self.row[PHASE] != OVER:
            raise self._error("the record ends before the match does")
        penalty = penalty_of(self.game, self.row)
        if penalty is not None:
            self._compare("penalty", _of_type(self.record, "penalty", dict), penalty)
        elif self.record.get("penalty") is not None:
            raise self._error("there is a penalty, but by the rules there was none")
        self._compare_result(_of_type(self.record, "result", dict))

    def _guard(self, do: Callable[..., None], *arguments: Any) -> None:
        try:
            do(*arguments)
        except RecordError:
            raise
        except (BadInput, TypeError, ValueError, KeyError) as error:
            raise self._error(str(error)) from None

    def _error(self, message: str) -> RecordError:
        return RecordError(f"{self._where}: {message}")

    def _list_in(self, deal: Any, key: str) -> list[Any]:
        value = deal.get(key) if isinstance(deal, dict) else None
        if not isinstance(value, list):
            raise self._error(f'"{key}" is missing or no list')
        return value

    def _give_deal(self, deal: Any) -> None:
        if not isinstance(deal, dict) or not _is_whole(deal.get("dealer")):
            raise self._error("no dealer")
        for hand in self._list_in(deal, "hands"):
            if not isinstance(hand, list):
                raise self._error("a hand is no list of cards")
        first = self.row[DEALS] == 0
        chosen = self.game.options_of(self.row)["dealer"]
        if first and chosen is not None and deal["dealer"] != chosen:
            raise self._error(f"dealer {deal['dealer']}: the option says {chosen}")
        self.game.give_deal(self.row, deal["hands"], deal["dealer"], deal.get("trump_card"))
        if self._history is not None:
            self._note_history(None, first)

    def _note_history(self, action: int | None, first: bool = False) -> None:
        assert self._history is not None
        if action is not None:
            self._history.note(self.row, action)
        elif first:
            self._history.begin(self.row)
        else:
            self._history.note_result(self.row)

    def _act(self, entry: Any) -> None:
        if not isinstance(entry, list) or len(entry) not in (2, 3):
            raise self._error("an action is [seat, action] or [seat, action, legal]")
        seat, text = entry[0], entry[1]
        if self.row[SEAT] == NOBODY:
            raise self._error(f"{text!r} comes after the deal's end")
        if not _is_whole(seat) or seat != self.row[SEAT]:
            raise self._error(f"seat {seat!r} acts, but it is seat {int(self.row[SEAT])}'s turn")
        if not isinstance(text, str):
            raise self._error(f"{text!r} is no action")
        action = self.game.action_number(self.row, text)
        self.game.check_legal(self.row, action)
        if len(entry) == 3:
            self._check_legal_list(entry[2])
        if self._history is not None:
            self._note_history(action)
        self.game.kernels.apply(self.row, action)
        self.n_done += 1
        self.action = action
        if self._history is not None:
            self._note_history(None)

    def _check_legal_list(self, given: Any) -> None:
        legal = [self.game.action_text(self.row, a) for a in self.game.legal_actions(self.row)]
        if not isinstance(given, list) or sorted(map(str, given)) != sorted(legal):
            raise self._error(f"legal actions {given!r}: by the rules {' '.join(legal)}")

    def _check_deal(self, deal: Any) -> None:
        if self.row[SEAT] != NOBODY:
            raise self._error("the deal stops before its end")
        for key, value in deal_scores(self.game, self.row).items():
            self._compare(key, deal.get(key), value)

    def _penalty_entries(self) -> list[Any]:
        """The decisions of an interactive penalty as actions of a deal; none if it was drawn."""
        if self.row[PHASE] != CUT:
            return []
        penalty = self.record["penalty"]
        return [[int(self.row[SEAT]), f"cut:{penalty['cut']}"], *penalty.get("strikes", [])]

    def _give_penalty(self) -> None:
        """Lay a deck that has the record's bottom card at the record's cut."""
        penalty = _of_type(self.record, "penalty", dict)
        cut = penalty.get("cut")
        if not _is_whole(cut) or not 1 <= cut < len(self.game.deck):
            raise self._error(f"cut {cut!r}: allowed are 1..{len(self.game.deck) - 1}")
        if not isinstance(penalty.get("strikes", []), list):
            raise self._error("strikes are no list")
        bottom = self.game.card_number(penalty.get("bottom"))
        deck = [card for card in range(len(self.game.deck)) if card != bottom]
        deck.insert(cut - 1, bottom)
        self.game.kernels.give_deck(self.row, np.array(deck, np.int64), cut - 1)

    def _compare(self, name: str, given: Any, correct: Any) -> None:
        if not _same(given, correct):
            raise self._error(f"{name} is {given!r}: by the rules {correct!r}")

    def _compare_result(self, given: dict[str, Any]) -> None:
        correct = result_of(self.game, self.row)
        rewards = given.get("rewards")
        close = (
            isinstance(rewards, list)
            and len(rewards) == len(correct["rewards"])
            and all(isinstance(r, (int, float)) and not isinstance(r, bool) for r in rewards)
            and all(
                right - _REWARD_TOLERANCE <= told <= right + _REWARD_TOLERANCE
                for told, right in zip(rewards, correct["rewards"], strict=True)
            )
        )
        if not close:
            self._compare("rewards", rewards, correct["rewards"])
        for key in sorted(correct.keys() - {"rewards"}):
            if key not in given:
                raise self._error(f"{key} is missing: by the rules {correct[key]!r}")
            self._compare(key, given[key], correct[key])


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _same(given: Any, correct: Any) -> bool:
    """Equal, of the same types, and for objects in every key that the rules know."""
    if isinstance(correct, dict):
        return isinstance(given, dict) and all(_same(given.get(k), v) for k, v in correct.items())
    if isinstance(correct, list):
        return (
            isinstance(given, list)
            and len(given) == len(correct)
            and all(_same(g, c) for g, c in zip(given, correct, strict=True))
        )
    return type(given) is type(correct) and bool(given == correct)
