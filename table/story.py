"""Everything that has happened at a table: its position before each decision, and the last one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trysim.envs.games import BadInput, Game, game_named
from trysim.envs.record import positions
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import SEAT

_APART = 32  # decisions between two positions that are kept


@dataclass
class Story:
    """Decisions (seat, text) of a match, and the table as it was before each of them.

    Of finished deals every position is kept, for a record tells no more than the cards; of a match
    in play every 32nd, for the others follow.
    """

    game: Game
    decisions: list[tuple[int, str]] = field(default_factory=list)
    _kept: dict[int, Row] = field(default_factory=dict)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "Story":
        """The story that a record tells; BadInput where it departs from the rules."""
        story = cls(game_named(str(record.get("game"))))
        story._kept = dict(enumerate(positions(record)))
        texts = [entry[1] for deal in record["deals"] for entry in deal["actions"]]
        penalty = record.get("penalty", {})
        if len(story._kept) > len(texts) + 1:
            texts += [f"cut:{penalty['cut']}", *(text for _, text in penalty["strikes"])]
        seats = [int(story._kept[number][SEAT]) for number in range(len(texts))]
        story.decisions = list(zip(seats, texts, strict=True))
        return story

    def begin(self, row: Row) -> None:
        """Keep the table before the first decision."""
        self._kept[0] = row.copy()

    def note(self, seat: int, text: str, row: Row) -> None:
        """Note a decision, and the table after it."""
        self.decisions.append((seat, text))
        if len(self.decisions) % _APART == 0:
            self._kept[len(self.decisions)] = row.copy()

    def row(self, number: int) -> Row:
        """The table before decision `number`, or at the end; BadInput if there is none such."""
        if not 0 <= number <= len(self.decisions):
            raise BadInput(f"moment {number}: there are 0 to {len(self.decisions)}")
        start = number if number in self._kept else number - number % _APART
        row: Row = self._kept[start].copy()
        for _, text in self.decisions[start:number]:
            self.game.kernels.step(row, self.game.action_number(row, text))
        return row

    def deals(self) -> list[int]:
        """The numbers of the decisions with which deals begin."""
        return _firsts(int(self.row(n)[self.game.words["deals"]]) for n in range(len(self)))

    def __len__(self) -> int:
        return len(self.decisions)


def _firsts(numbers: Iterable[int]) -> list[int]:
    """Where a number differs from the one before."""
    before, found = None, []
    for place, number in enumerate(numbers):
        if number != before:
            found.append(place)
        before = number
    return found
