"""The command `trysim`: play, serve, watch, render, record, verify, train, arena and so on.

Exit status: 0 done, 1 a record is bad, 2 the command cannot be carried out as given, 130 stopped
by Ctrl-C. What a command is about is imported when it runs: `trysim --help` imports little.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, DefaultHelpFormatter, Namespace

from trysim import __version__

if TYPE_CHECKING:
    from trysim.arena import Comparison
    from trysim.envs.games import Game
    from trysim.table.match import Match
    from trysim.table.story import Story

OK, BAD_RECORD, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
_AT_ONCE = 16  # matches recorded in one go
_AGENTS = (
    "random, greedy, expert, pimc:worlds=N, ismcts:iterations=N, policy:GAME, policy:DIR, "
    "sb3:FILE.zip, team:A+B"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command line; the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words:
        return _complain(f"a command is needed: {', '.join(_COMMANDS)}; see trysim --help")
    words, overrides = _split_overrides(words)
    try:
        arguments = _parser().parse_args(words)
    except argparse.ArgumentError as error:
        return _complain(_in_short(error, words[0]))
    except SystemExit as end:  # --help and --version
        return int(end.code or OK)
    if overrides:
        arguments.train.overrides = overrides
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return _complain("stopped", INTERRUPTED)


def _in_short(error: argparse.ArgumentError, command: str) -> str:
    """What is wrong with a command line, and where to look."""
    if command not in _COMMANDS:
        return f"{error}; see trysim --help"
    return f"{str(error).replace(f'{command}.', '')}; see trysim {command} --help"


def _run(arguments: Namespace) -> int:
    from trysim.envs.games import BadInput

    name = arguments.subcommand
    try:
        return _COMMANDS[name](arguments[name])
    except BadInput as error:
        return _complain(str(error))


def _complain(message: str, status: int = WRONG_USE) -> int:
    """Print one line on stderr; the status."""
    print("trysim:", " ".join(message.split()), file=sys.stderr)
    return status


# The command line -------------------------------------------------------------------------------
class _Formatter(DefaultHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of the examples."""


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="trysim",
        description="Three traditional trick-taking games as reinforcement-learning environments.",
        epilog=_examples(
            "trysim games", "trysim arena semerik --agents greedy random --deals 1000"
        ),
        exit_on_error=False,
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="version", version=f"trysim {__version__}")
    subcommands = parser.add_subcommands(required=True)
    for add in (
        _add_games, _add_play, _add_serve, _add_watch, _add_render, _add_record, _add_verify,
        _add_dataset, _add_train, _add_best_response, _add_arena, _add_cross_play, _add_bench,
    ):  # fmt: skip
        add(subcommands)
    return parser


def _examples(*lines: str) -> str:
    return "\n".join(["examples:", *(f"  {line}" for line in lines)])


def _add(subcommands: Any, name: str, what: str, *examples: str) -> ArgumentParser:
    parser = ArgumentParser(
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=_examples(*examples),
        exit_on_error=False,
    )
    subcommands.add_subcommand(name, parser, help=what)
    return parser


def _add_games(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "games",
        "show the games and their options",
        "trysim games",
        "trysim games semerik",
    )
    parser.add_argument("game", nargs="?", help="this game only")


def _add_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--option",
        action="append",
        metavar="NAME=VALUE",
        help="an option of the game (`trysim games` shows all); may be given several times",
    )


def _add_workers(parser: ArgumentParser) -> None:
    parser.add_argument("--workers", metavar="N", help="processes; all cores if not given")
    parser.add_argument(
        "--ray",
        nargs="?",
        const="auto",
        metavar="ADDRESS",
        help="let the Ray cluster at this address work instead (auto: the running one; local: one "
        "on this machine); the results are the same",
    )


def _add_play(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "play",
        "sit down at a table in the terminal, with agents or with other people",
        "trysim play semerik",
        "trysim play semerik --seats human expert policy:semerik expert --option horizon=game",
        "trysim play sim_lystiv --seats human:Olena human:Ivan expert --option num_players=3 \\",
        "    --option penalty=interactive --out evening.jsonl",
    )
    parser.add_argument("game", help="the game's name")
    parser.add_argument(
        "--seats",
        nargs="+",
        metavar="WHO",
        help=f"who sits where: human, human:NAME or an agent ({_AGENTS}); "
        "if not given, you and the game's policy in all other seats",
    )
    _add_option(parser)
    parser.add_argument("--seed", metavar="S", help="of cards and agents; by lot if not given")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the record, when the match is over; the same command goes on if it was left",
    )


def _add_serve(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "serve",
        "open a house of tables in the browser: play, watch, look at what agents think",
        "trysim serve",
        "trysim serve --port 9000 --folder evening --agents policy:runs/team/policy",
    )
    parser.add_argument("--port", default="8777", metavar="N", help="of this machine")
    parser.add_argument(
        "--host", default="127.0.0.1", help="whom to listen to; 0.0.0.0 is everybody"
    )
    parser.add_argument(
        "--folder", default="tables", metavar="DIR", help="where matches are kept, also unfinished"
    )
    parser.add_argument(
        "--agents",
        nargs="+",
        default=[],
        metavar="SPEC",
        help="more agents to offer, from files too: " + _AGENTS,
    )
    parser.add_argument("--pace", default="0.8", metavar="S", help="seconds between agents' moves")


def _add_watch(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "watch",
        "go through a record in the terminal, decision by decision",
        "trysim watch games.jsonl",
        "trysim watch games.jsonl --record 3 --moment 40 --seat 2",
    )
    parser.add_argument("file", metavar="FILE", help="a file of records")
    _add_moments(parser)
    parser.add_argument("--moment", default="0", metavar="N", help="the decision to begin with")


def _add_moments(parser: ArgumentParser) -> None:
    parser.add_argument("--record", default="1", metavar="N", help="which one of the file, from 1")
    parser.add_argument(
        "--seat", metavar="N", help="see what this seat sees, from 0; else all hands"
    )


def _add_render(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "render",
        "make a film of a record: .gif, .mp4, an .svg that moves, or .png of one moment",
        "trysim render games.jsonl --out match.gif",
        "trysim render games.jsonl --record 2 --first 10 --last 30 --fps 1 --out part.svg",
    )
    parser.add_argument("file", metavar="FILE", help="a file of records")
    _add_moments(parser)
    parser.add_argument("--first", default="0", metavar="N", help="the moment to begin with")
    parser.add_argument("--last", metavar="N", help="the last moment; the end if not given")
    parser.add_argument("--fps", default="2", metavar="N", help="moments a second")
    parser.add_argument("--size", default="960x640", metavar="WxH", help="in pixels")
    parser.add_argument("--out", required=True, metavar="FILE", help="the film; its ending counts")


def _add_record(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "record",
        "play matches and write their records, one line of JSON each",
        "trysim record semerik --agents greedy --episodes 10 --seed 1 --out games.jsonl",
        "trysim record sim_lystiv --agents greedy random random --option num_players=3 \\",
        "    --episodes 100 --seed 7 --legal --out three.jsonl",
    )
    parser.add_argument("game", help="the game's name")
    parser.add_argument(
        "--agents",
        nargs="+",
        required=True,
        metavar="SPEC",
        help=f"one for all seats, or one for each seat: {_AGENTS}",
    )
    parser.add_argument("--episodes", required=True, metavar="N", help="how many matches")
    parser.add_argument(
        "--seed",
        required=True,
        metavar="S",
        help="the same seed gives the same file, byte for byte. A record's own seed follows from S "
        "and the episode's number; an environment reset with it deals the record's first deal",
    )
    _add_option(parser)
    _add_workers(parser)
    parser.add_argument(
        "--legal", action="store_true", help="keep all legal actions with every action"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the file to write")


def _add_verify(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "verify",
        "check every card, turn, score and reward of records by the rules",
        "trysim verify games.jsonl",
        "trysim verify runs/*.jsonl",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="files of records")


def _add_dataset(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "dataset",
        "keep every decision of many matches as Parquet: to learn from, or to look into",
        "trysim dataset semerik --agents pimc:worlds=100 --option horizon=deal \\",
        "    --episodes 20000 --seed 1 --out data/pimc",
        "trysim dataset --records games.jsonl --out data/games",
        "trysim dataset --unpack data/pimc --out games.jsonl",
    )
    parser.add_argument("game", nargs="?", help="the game's name, if matches are to be played")
    parser.add_argument(
        "--agents", nargs="+", metavar="SPEC", help=f"one for all seats, or one for each: {_AGENTS}"
    )
    parser.add_argument("--episodes", metavar="N", help="how many matches")
    parser.add_argument("--seed", default="0", metavar="S", help="matches as `trysim record` plays")
    _add_option(parser)
    _add_workers(parser)
    parser.add_argument(
        "--records", nargs="+", metavar="FILE", help="take the matches from files of records"
    )
    parser.add_argument("--unpack", metavar="DIR", help="write the records that a dataset holds")
    parser.add_argument(
        "--out",
        required=True,
        metavar="PATH",
        help="the dataset's folder, where the same command goes on; with --unpack a file",
    )


def _add_train(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "train",
        "train a policy as a configuration file says",
        "trysim train configs/semerik/demo.yaml",
        "trysim train configs/semerik/ppo.yaml --seed 3 --out runs/third",
        "trysim train configs/semerik/ppo.yaml --seed 3 --out runs/third --resume",
    )
    parser.add_argument("config", metavar="CONFIG", help="a YAML file; then --key value changes it")
    parser.add_argument("--out", metavar="DIR", help="the folder for what training gives")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on from the folder's checkpoint, as if nothing had happened",
    )


def _add_best_response(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "best-response",
        "train a fresh learner against agents that never change: what it gains bounds from below "
        "how far they can be exploited",
        "trysim best-response semerik --agents policy:semerik expert --option horizon=deal \\",
        "    --decisions 10000000 --deals 5000 --out results/best-response",
    )
    parser.add_argument("game", help="the game's name")
    parser.add_argument("--agents", nargs="+", required=True, metavar="SPEC", help=_AGENTS)
    parser.add_argument("--decisions", required=True, metavar="N", help="to learn from, for each")
    parser.add_argument("--deals", required=True, metavar="N", help="duplicate deals to measure")
    parser.add_argument("--seed", default="0", metavar="S", help="of training and deals")
    _add_option(parser)
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="the folder; the same command goes on there"
    )


def _add_cross_play(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "cross-play",
        "seat agents of Семерик as each other's partners, against the same opponents",
        "trysim cross-play --agents policy:runs/a policy:runs/b policy:runs/c --against expert \\",
        "    --option horizon=deal --deals 4000 --out results/partners",
    )
    parser.add_argument("--agents", nargs="+", required=True, metavar="SPEC", help=_AGENTS)
    parser.add_argument("--against", default="expert", metavar="SPEC", help="the opponents")
    parser.add_argument("--deals", required=True, metavar="N", help="duplicate deals, 2 or more")
    parser.add_argument("--seed", default="0", metavar="S", help="the deals' seed")
    _add_option(parser)
    _add_workers(parser)
    parser.add_argument(
        "--out", required=True, metavar="DIR", help="the folder for matrix, picture and deals"
    )


def _add_arena(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "arena",
        "compare agents over duplicate deals: the same deals with every seating",
        "trysim arena semerik --agents greedy random --deals 1000 --seed 1",
        "trysim arena semnadtsat --agents policy:runs/a greedy random --deals 5000 --seed 1 \\",
        "    --option scoring=seventeen --workers 4 --out results/a",
        "trysim arena semerik --agents policy:runs/a policy:runs/b --against expert \\",
        "    --deals 2000 --control-variate --out results/anchored",
    )
    parser.add_argument("game", help="the game's name")
    parser.add_argument(
        "--agents",
        nargs="+",
        required=True,
        metavar="SPEC",
        help=f"every two of them play, unless --against or --chain is given: {_AGENTS}",
    )
    parser.add_argument(
        "--against", nargs="+", metavar="SPEC", help="each of --agents plays each of these only"
    )
    parser.add_argument("--chain", action="store_true", help="each agent plays the next one only")
    parser.add_argument("--deals", required=True, metavar="N", help="deals (matches), 2 or more")
    parser.add_argument("--seed", default="0", metavar="S", help="the deals' seed")
    _add_option(parser)
    _add_workers(parser)
    parser.add_argument(
        "--control-variate",
        nargs="*",
        metavar="SPEC",
        help="add means adjusted by the value of the same deals for two cheap agents (greedy and "
        "random, or those named); of use for agents far slower than these",
    )
    parser.add_argument(
        "--rating", action="store_true", help="add OpenSkill ratings; always so with --out"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result here as well")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="a folder for everything: comparison.json, deals.parquet, matrix.png, report.html; "
        "what is played is kept there, and the same command goes on after a kill",
    )


def _add_bench(subcommands: Any) -> None:
    parser = _add(
        subcommands,
        "bench",
        "measure how fast the games run on this machine, layer by layer",
        "trysim bench",
        "trysim bench --peers --json bench.json",
        "trysim bench --agents expert pimc:worlds=100 ismcts:ms=5",
    )
    parser.add_argument(
        "--agents",
        nargs="+",
        metavar="SPEC",
        help="measure instead how long these agents take to decide, in every game",
    )
    parser.add_argument(
        "--peers", action="store_true", help="measure OpenSpiel's hearts too, if it is installed"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result here as well")


def _split_overrides(words: list[str]) -> tuple[list[str], list[str]]:
    """Set `--key value` of `trysim train CONFIG` apart: they are the configuration's business."""
    if words[:1] != ["train"]:
        return words, []
    ours, overrides = words[:2], []
    rest = iter(words[2:])
    for word in rest:
        if word == "--out":
            ours += [word, *(value for value in (next(rest, None),) if value is not None)]
        elif word in ("-h", "--help", "--resume") or word.startswith("--out="):
            ours.append(word)
        else:
            overrides.append(word)
    return ours, overrides


# What was typed ---------------------------------------------------------------------------------
def _number(name: str, text: str, lowest: int) -> int:
    from trysim.envs.games import BadInput

    try:
        number = int(text)
    except ValueError:
        number = lowest - 1
    if number < lowest:
        raise BadInput(f"--{name} {text}: allowed are whole numbers from {lowest}")
    return number


def _seconds(name: str, text: str) -> float:
    from trysim.envs.games import BadInput

    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e6:
        raise BadInput(f"--{name} {text}: allowed are numbers from 0")
    return number


def _optional_number(name: str, text: str | None) -> int | None:
    return None if text is None else _number(name, text, 0)


def _options(game: "Game", texts: Iterable[str] | None) -> dict[str, Any]:
    """All options of the game from `name=value` texts."""
    from trysim.envs.games import BadInput

    known = {option.name: option for option in game.options}
    given: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--option {text}: write name=value; names are {', '.join(known)}")
        if name in given:
            raise BadInput(f"--option {name} is given twice")
        given[name] = known[name].parse(value) if name in known else value
    return game.complete_options(given)


# Commands ---------------------------------------------------------------------------------------
def _games(arguments: Namespace) -> int:
    from rich.console import Console

    from trysim.envs.games import GAMES, game_named

    console = Console(highlight=False)
    for game in [game_named(arguments.game)] if arguments.game else GAMES.values():
        console.print(_game_table(game))
    return OK


def _game_table(game: "Game") -> Any:
    from rich.table import Table

    about = (game.rules.__doc__ or "").partition(".")[0]
    table = Table(title=f"{game.name} - {about}", title_justify="left", expand=False)
    for heading in ("option", "default", "allowed", "meaning"):
        table.add_column(heading, overflow="fold")
    for option in game.options:
        default = "none" if option.default is None else str(option.default)
        table.add_row(option.name, default, option.allowed(), option.meaning)
    return table


def _play(arguments: Namespace) -> int:
    import secrets

    from rich.console import Console

    from trysim.envs.games import game_named
    from trysim.table.match import Match, is_unfinished
    from trysim.table.terminal import play

    game = game_named(arguments.game)
    out = None if arguments.out is None else Path(arguments.out)
    if out is not None and is_unfinished(out):
        match = Match.go_on(out)
        _check_same_match(match, arguments, out)
    else:
        options = _options(game, arguments.option)
        n = game.n_players(options)
        seats = arguments.seats or ["human", *[f"policy:{game.name}"] * (n - 1)]
        seed = _optional_number("seed", arguments.seed)
        match = Match(game, options, seats, secrets.randbits(53) if seed is None else seed, out)
    console = Console()
    is_over = play(match, console)
    match.close()
    if out is not None:
        kept = f"the record is {out}" if is_over else "the same command goes on with the match"
        console.print(kept, highlight=False)
    elif not is_over:
        console.print("the match is not kept: --out FILE keeps it", highlight=False)
    return OK


def _check_same_match(match: "Match", arguments: Namespace, out: Path) -> None:
    """BadInput if the match that was broken off is not the one that is asked for."""
    from trysim.envs.games import BadInput

    seats, seed = arguments.seats, _optional_number("seed", arguments.seed)
    is_same = (
        match.game.name == arguments.game
        and (not seats or seats == match.seats)
        and (not arguments.option or _options(match.game, arguments.option) == match.options)
        and (seed is None or seed == match.seed)
    )
    if not is_same:
        raise BadInput(
            f"{out} holds another match that is not over ({match.game.name}, "
            f"--seats {' '.join(match.seats)}, --seed {match.seed}): ask for that one, or give "
            "another --out"
        )


def _serve(arguments: Namespace) -> int:
    from trysim.envs.games import BadInput
    from trysim.table.serve import serve

    port = _number("port", arguments.port, 0)
    if port > 65535:
        raise BadInput(f"--port {port}: allowed are whole numbers from 0 to 65535")
    pace = _seconds("pace", arguments.pace)
    serve(Path(arguments.folder), arguments.host, port, arguments.agents, pace)
    return OK


def _watch(arguments: Namespace) -> int:
    from rich.console import Console

    from trysim.table.terminal import story_of, watch

    story, agents = story_of(Path(arguments.file), _number("record", arguments.record, 1))
    moment, seat = _number("moment", arguments.moment, 0), _seat_of(story, arguments.seat)
    story.row(moment)  # BadInput if there is no such moment
    watch(story, agents, Console(), moment=moment, eyes=seat)
    return OK


def _seat_of(story: "Story", text: str | None) -> int | None:
    from trysim.envs.games import BadInput

    seat = _optional_number("seat", text)
    n = story.game.n_players_of(story.row(0))
    if seat is not None and seat >= n:
        raise BadInput(f"--seat {seat}: seats are 0..{n - 1}")
    return seat


def _render(arguments: Namespace) -> int:
    from trysim.arena.report import progress
    from trysim.envs.games import BadInput, whole_number
    from trysim.table.film import moments_between, render
    from trysim.table.terminal import story_of

    story, agents = story_of(Path(arguments.file), _number("record", arguments.record, 1))
    seat, fps = _seat_of(story, arguments.seat), _seconds("fps", arguments.fps)
    first = _number("first", arguments.first, 0)
    last = _optional_number("last", arguments.last)
    wide, high = (whole_number(side) for side in arguments.size.partition("x")[::2])
    if wide is None or high is None:
        raise BadInput(f"--size {arguments.size}: write WxH, such as 960x640")
    n = len(moments_between(story, first, last))
    with progress("moments", n) as advance:
        out = Path(arguments.out)
        render(story, out, fps, (wide, high), seat, first, last, advance, agents)
    return OK


def _record(arguments: Namespace) -> int:
    from trysim.arena.play import Recordings
    from trysim.arena.pool import done_by, in_order, n_workers
    from trysim.arena.report import new_file, progress
    from trysim.envs.games import game_named

    game = game_named(arguments.game)
    options = _options(game, arguments.option)
    episodes = _number("episodes", arguments.episodes, 1)
    seed = _number("seed", arguments.seed, 0)
    specs = [agent.spec for agent in _agents_by_seat(game, options, arguments.agents)]
    matches = Recordings(game, options, specs, seed, arguments.legal)
    jobs = [range(first, min(first + _AT_ONCE, episodes)) for first in range(0, episodes, _AT_ONCE)]
    workers = min(n_workers(_wanted_workers(arguments), arguments.ray), len(jobs))
    waiting = iter(jobs)
    with new_file(Path(arguments.out)) as file, progress("matches", episodes) as advance:
        done = done_by(matches, lambda: next(waiting, None), workers, arguments.ray)
        for lines in in_order(done, jobs):
            file.writelines(f"{line}\n" for line in lines)
            advance(len(lines))
    return OK


def _dataset(arguments: Namespace) -> int:
    from trysim.arena.dataset import from_records, make_dataset, to_records
    from trysim.arena.report import new_file
    from trysim.envs.games import BadInput, game_named

    ways = [bool(arguments.game), bool(arguments.records), bool(arguments.unpack)]
    if sum(ways) != 1:
        raise BadInput("give a game to play, or --records FILE, or --unpack DIR")
    out = Path(arguments.out)
    if arguments.unpack:
        with new_file(out) as file:
            file.writelines(f"{record}\n" for record in to_records(Path(arguments.unpack)))
    elif arguments.records:
        print(from_records([Path(file) for file in arguments.records], out))
    else:
        game = game_named(arguments.game)
        if not arguments.agents or arguments.episodes is None:
            raise BadInput("--agents and --episodes are needed to play")
        manifest = make_dataset(
            game.name,
            arguments.agents,
            _number("episodes", arguments.episodes, 1),
            _number("seed", arguments.seed, 0),
            out,
            _options(game, arguments.option),
            _wanted_workers(arguments),
            ray=arguments.ray,
        )
        print(manifest)
    return OK


def _agents_by_seat(game: "Game", options: dict[str, Any], specs: list[str]) -> list[Any]:
    """The agent of every seat; one spec is for all seats."""
    from trysim.agents import make_agent
    from trysim.envs.games import BadInput

    n = game.n_players(options)
    if len(specs) not in (1, n):
        raise BadInput(f"--agents: {len(specs)} for {n} players; give one for all, or {n}")
    agents = {spec: make_agent(spec, game) for spec in specs}
    return [agents[spec] for spec in (specs if len(specs) == n else specs * n)]


def _verify(arguments: Namespace) -> int:
    return max(_verify_file(path) for path in arguments.files)


def _verify_file(path: str) -> int:
    """Print what is wrong in a file and how many of its records are good."""
    from trysim.envs.games import BadInput
    from trysim.envs.record import read_lines

    n_records = n_good = 0
    try:
        for line, record in read_lines(path):
            fault = _fault(record)
            n_records += 1
            n_good += fault is None
            if fault is not None:
                print(f"{path}, line {line}: {' '.join(fault.split())}")
    except BadInput as error:
        return _complain(str(error))
    print(f"{path}: {n_good} of {n_records} records good")
    return OK if n_good == n_records else BAD_RECORD


def _fault(record: Any) -> str | None:
    """What is wrong with a record, None if nothing is."""
    from trysim.envs.games import BadInput
    from trysim.envs.record import verify

    if isinstance(record, BadInput):
        return str(record)
    try:
        verify(record)
    except BadInput as error:
        return str(error)
    return None


def _train(arguments: Namespace) -> int:
    from trysim.train import run

    out = None if arguments.out is None else Path(arguments.out)
    overrides = getattr(arguments, "overrides", [])
    return int(run(arguments.config, overrides, out, arguments.resume))


def _best_response(arguments: Namespace) -> int:
    from rich.console import Console

    from trysim.envs.games import game_named
    from trysim.train.best_response import best_responses
    from trysim.train.watch import TrainingStopped

    game = game_named(arguments.game)
    options = _options(game, arguments.option)
    decisions = _number("decisions", arguments.decisions, 1)
    deals = _number("deals", arguments.deals, 2)
    seed = _number("seed", arguments.seed, 0)
    out = Path(arguments.out)
    try:
        found = best_responses(game.name, arguments.agents, decisions, deals, seed, out, options)
    except TrainingStopped as stop:
        return _complain(str(stop), 1)
    Console(highlight=False).print(found.table())
    return OK


def _cross_play(arguments: Namespace) -> int:
    from rich.console import Console

    from trysim.arena.crossplay import GAME, cross_play
    from trysim.envs.games import game_named

    options = _options(game_named(GAME), arguments.option)
    deals = _number("deals", arguments.deals, 2)
    seed = _number("seed", arguments.seed, 0)
    workers = _wanted_workers(arguments)
    agents, against = arguments.agents, arguments.against
    found = cross_play(agents, against, deals, seed, arguments.out, options, workers, arguments.ray)
    Console(highlight=False).print(found.table())
    return OK


def _arena(arguments: Namespace) -> int:
    from rich.console import Console

    from trysim.arena.report import checked_file, new_file
    from trysim.arena.views import grids

    if arguments.json is not None:
        checked_file(Path(arguments.json))  # before hours of play, not after
    comparison = _compare(arguments)
    console = Console(highlight=False)
    for grid in grids(comparison):
        console.print(grid.table())
    if arguments.json is not None:
        with new_file(Path(arguments.json)) as file:
            file.write(comparison.to_json() + "\n")
    return OK


def _wanted_workers(arguments: Namespace) -> int | None:
    return None if arguments.workers is None else _number("workers", arguments.workers, 1)


def _compare(arguments: Namespace) -> "Comparison":
    from trysim.arena import compare
    from trysim.envs.games import game_named

    game = game_named(arguments.game)
    options = _options(game, arguments.option)
    deals = _number("deals", arguments.deals, 2)
    seed = _number("seed", arguments.seed, 0)
    workers = _wanted_workers(arguments)
    control = arguments.control_variate
    try:
        return compare(
            game.name,
            arguments.agents,
            deals,
            seed,
            options,
            workers,
            against=arguments.against or (),
            pairs="chain" if arguments.chain else "all",
            control=control if control else control is not None,
            rating=arguments.rating,
            out=arguments.out,
            ray=arguments.ray,
        )
    except KeyboardInterrupt:
        if arguments.out is not None:
            _complain(f"what is played is kept in {arguments.out}; the same command goes on")
        raise


def _bench(arguments: Namespace) -> int:
    from trysim.arena.bench import run

    path = None if arguments.json is None else Path(arguments.json)
    return run(arguments.peers, path, agents=arguments.agents or ())


_COMMANDS: dict[str, Callable[[Namespace], int]] = {
    "games": _games,
    "play": _play,
    "serve": _serve,
    "watch": _watch,
    "render": _render,
    "record": _record,
    "verify": _verify,
    "dataset": _dataset,
    "train": _train,
    "best-response": _best_response,
    "arena": _arena,
    "cross-play": _cross_play,
    "bench": _bench,
}
