"""The table in a terminal: `play` sits people down, `watch` goes through a record."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from trysim.agents import make_agent
from trysim.agents.thoughts import WORTH, Thought, think
from trysim.envs.decisions import Decisions
from trysim.envs.games import BadInput, Game, whole_number
from trysim.envs.render import ansi
from trysim.envs.rules.jit import Row
from trysim.envs.rules.row import CUT, PHASE, SEAT
from trysim.envs.table_view import action_label, player_name, view
from trysim.table.match import Match, is_person, is_unfinished, person_name
from trysim.table.reasons import why_not
from trysim.table.story import Story

Ask = Callable[[str, Sequence[str]], str]  # a question and the answers that may be chosen

_PLAY_HELP = """\
a card      7h  or  10h, th
a number    of the list
?           this help
hint        what expert would do; hint policy:semerik asks another agent
score       the table once more
q           leave; with --out the same command goes on with the match
Arrow keys go through what can be chosen, Tab completes."""
_WATCH_HELP = """\
Enter, n    the next decision          b   back
d           the next deal              a   all that follows
25          decision 25                q   leave
v           through whose eyes: v 2 is seat 2, v all hands
hint        what the agent that decided thinks; hint expert asks another"""


def ask_person(question: str, answers: Sequence[str]) -> str:
    """Ask in the terminal; arrow keys go through the answers. EOFError at the end of the input."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return ask_by_keys(question, answers)
    return input(question)


def ask_by_keys(question: str, answers: Sequence[str]) -> str:
    """Ask for a line; the arrow keys put one answer after the other into it."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys, at = KeyBindings(), [-1]

    def choose(event: KeyPressEvent, step: int) -> None:
        at[0] = (at[0] + step) % len(answers) if at[0] >= 0 else (0 if step > 0 else -1)
        event.current_buffer.text = answers[at[0]]
        event.current_buffer.cursor_position = len(answers[at[0]])

    for key, step in (("right", 1), ("down", 1), ("left", -1), ("up", -1)):
        keys.add(key)(lambda event, step=step: choose(event, step) if answers else None)
    completer = WordCompleter(list(answers), sentence=True)
    session: PromptSession[str] = PromptSession(key_bindings=keys, completer=completer)
    return session.prompt(question)


# Playing ------------------------------------------------------------------------------------------
def play(match: Match, console: Console, ask: Ask = ask_person) -> bool:
    """Play a match to its end, or until somebody leaves; whether it is over."""
    table = _Play(match, console, ask)
    while not match.is_over:
        if not match.waits_for_person:
            table.let_agent_act()
        elif not table.let_person_act():
            return False
    table.show(None)
    return True


@dataclass
class _Play:
    match: Match
    console: Console
    ask: Ask
    before: int | None = None  # the person who acted last

    def let_agent_act(self) -> None:
        """An agent decides; everybody is told."""
        seat = self.match.turn
        assert seat is not None
        action = self.match.let_agent_act()
        self.console.print(
            f"  {player_name(seat)} ({self.match.seats[seat]}): {action_label(action)}",
            highlight=False,
        )

    def let_person_act(self) -> bool:
        """A person decides, or says something else; False if the person leaves."""
        seat = self.match.turn
        assert seat is not None
        if not self._hand_over(seat):
            return False
        self.show(seat)
        while True:
            legal = self.match.legal()
            self._offer(legal)
            try:
                words = self.ask(f"{self._name(seat)}> ", _typed(legal)).strip()
            except (EOFError, KeyboardInterrupt):
                return False
            if words in ("q", "quit", "exit"):
                return False
            if self._obey(words, seat, legal):
                return True

    def _hand_over(self, seat: int) -> bool:
        """Where several people share the terminal nobody sees another one's cards."""
        people = [number for number, spec in enumerate(self.match.seats) if is_person(spec)]
        if len(people) > 1 and self.before != seat:
            self.console.clear()
            try:
                self.ask(f"{self._name(seat)}, it is your turn: press Enter. ", ())
            except (EOFError, KeyboardInterrupt):
                return False
        self.before = seat
        return True

    def _name(self, seat: int) -> str:
        return person_name(self.match.seats[seat]) or player_name(seat)

    def _obey(self, words: str, seat: int, legal: list[str]) -> bool:
        """Do what was typed; whether it was a decision."""
        command, _, rest = words.partition(" ")
        if words in ("?", "help"):
            self.console.print(_PLAY_HELP, highlight=False)
        elif command == "hint":
            self._hint(rest.strip() or "expert")
        elif words == "score":
            self.show(seat)
        else:
            return self._decide(words, seat, legal)
        return False

    def _decide(self, words: str, seat: int, legal: list[str]) -> bool:
        action = read_action(words, legal, self.match.game)
        if action is None:
            self.console.print(f"{words!r}: type a card (7h), a number, or ? for help", style="red")
            return False
        table = view(self.match.game, self.match.row, seat)
        reason = why_not(table, seat, action)
        if reason is not None:
            self.console.print(str(reason), style="red")
            return False
        self.match.act(action)
        return True

    def _offer(self, legal: list[str]) -> None:
        if self.match.row[PHASE] == CUT:
            self.console.print(f"lift 1 to {len(legal)} cards: type how many", highlight=False)
            return
        choices = (f"{n} {action_label(action)}" for n, action in enumerate(legal, 1))
        self.console.print("   ".join(choices), highlight=False)

    def _hint(self, spec: str) -> None:
        game, row = self.match.game, self.match.row
        try:
            show_thought(self.console, spec, thought_of(spec, game, row, len(self.match.story)))
        except BadInput as error:
            self.console.print(str(error), style="red")

    def show(self, seat: int | None) -> None:
        """The table through a seat's eyes, or with all hands."""
        colour = self.console.is_terminal
        self.console.print()
        self.console.file.write(ansi(self.match.game, self.match.row, seat, colour) + "\n")


def _typed(legal: Iterable[str]) -> list[str]:
    """How actions are typed."""
    return [action.lower() if len(action) == 2 else action for action in legal]


def read_action(words: str, legal: Sequence[str], game: Game) -> str | None:
    """The action that is meant: a card, a number of the list, or an action's text; None if none."""
    text = words.strip().upper().replace("10", "T")
    if len(text) == 2 and text in game.deck:
        return text
    number = whole_number(words)
    if number is not None:
        if not 1 <= number <= len(legal):
            return None
        return f"cut:{number}" if legal[0].startswith("cut:") else legal[number - 1]
    meant = [action for action in legal if action.lower().startswith(words.strip().lower())]
    return meant[0] if words.strip() and len(meant) == 1 else None


# What agents think ------------------------------------------------------------------------------
def thought_of(spec: str, game: Game, row: Row, number: int) -> Thought:
    """What an agent thinks of the decision of the seat to act; BadInput if there is no such."""
    view_of_seat = game.view(row, int(row[SEAT]))[None]
    legal = np.array([game.kernels.legal(row)])
    decision = Decisions(game, view_of_seat, legal, np.array([number]))
    return think(make_agent(spec, game), decision)


def show_thought(console: Console, spec: str, thought: Thought) -> None:
    """A table of what an agent thinks, best first."""
    console.print(f"{spec}: {action_label(thought.choice)}", highlight=False, style="bold")
    if not thought.numbers:
        return
    table = Table(thought.kind, "", show_header=True, box=None)
    for action, number in sorted(thought.numbers.items(), key=lambda item: -item[1]):
        text = f"{number:+.2f}" if thought.kind == WORTH else f"{number:.0%}"
        table.add_row(str(action_label(action)), text)
    console.print(table)


# Watching ---------------------------------------------------------------------------------------
def watch(
    story: Story,
    agents: Sequence[str],
    console: Console,
    ask: Ask = ask_person,
    moment: int = 0,
    eyes: int | None = None,
) -> None:
    """Go through a match, from a moment on, until the watcher leaves."""
    watching = _Watch(story, agents, console, moment, eyes)
    watching.show()
    while True:
        try:
            words = ask(f"{watching.moment}/{len(story)}> ", ()).strip()
        except (EOFError, KeyboardInterrupt):
            return
        if words in ("q", "quit", "exit"):
            return
        watching.obey(words)


@dataclass
class _Watch:
    story: Story
    agents: Sequence[str]
    console: Console
    moment: int
    eyes: int | None

    def show(self) -> None:
        """The table as it is at this moment, and what is decided next."""
        game, row = self.story.game, self.story.row(self.moment)
        self.console.file.write(ansi(game, row, self.eyes, self.console.is_terminal) + "\n")
        if self.moment < len(self.story):
            seat, action = self.story.decisions[self.moment]
            who = f"{player_name(seat)} ({self.agents[seat]})" if self.agents else player_name(seat)
            self.console.print(f"-> {who}: {action_label(action)}", highlight=False, style="bold")

    def obey(self, words: str) -> None:
        """Do what was typed."""
        command, _, rest = words.partition(" ")
        if words in ("?", "help"):
            self.console.print(_WATCH_HELP, highlight=False)
        elif command == "hint":
            self._hint(rest.strip())
        elif command == "v":
            self._look_through(rest.strip())
        elif words == "a":
            for moment in range(self.moment + 1, len(self.story) + 1):
                self._go(moment)
        elif words in ("", "n", "b", "d") or whole_number(words) is not None:
            self._go(self._meant(words))
        else:
            self.console.print(f"{words!r}: press Enter to go on, or ? for help", style="red")

    def _meant(self, words: str) -> int:
        number = whole_number(words)
        if number is not None:
            return number
        if words == "d":
            return next((n for n in self.story.deals() if n > self.moment), len(self.story))
        return self.moment + (-1 if words == "b" else 1)

    def _go(self, moment: int) -> None:
        self.moment = min(max(moment, 0), len(self.story))
        self.show()

    def _look_through(self, words: str) -> None:
        n = self.story.game.n_players_of(self.story.row(0))
        seat = whole_number(words)
        if seat is not None and seat < n:
            self.eyes = seat
        elif words in ("", "all"):
            self.eyes = None
        else:
            self.console.print(f"v {words}: seats are 0..{n - 1}, or all", style="red")
            return
        self.show()

    def _hint(self, spec: str) -> None:
        if self.moment == len(self.story):
            self.console.print("the match is over", style="red")
            return
        row = self.story.row(self.moment)
        spec = spec or (self.agents[int(row[SEAT])] if self.agents else "")
        if not spec or is_person(spec):
            self.console.print("a person decided: name an agent, hint expert", style="red")
            return
        try:
            show_thought(self.console, spec, thought_of(spec, self.story.game, row, self.moment))
        except BadInput as error:
            self.console.print(str(error), style="red")


def story_of(path: Path, number: int) -> tuple[Story, list[str]]:
    """The story of a file's record (from 1), and its agents; BadInput if there is none such."""
    from trysim.envs.record import read

    if is_unfinished(path):
        raise BadInput(f"{path} is not over yet: trysim play … --out {path} goes on with it")
    found = 0
    for found, record in enumerate(read(path), 1):
        if found == number:
            return Story.of_record(record), [str(agent) for agent in record.get("agents", [])]
    raise BadInput(f"{path}: record {number}; it holds {found}")
