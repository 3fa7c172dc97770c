"""`serve`: the house of tables, opened on a port."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from trysim.agents import make_agent
from trysim.arena.report import check_installed
from trysim.envs.games import GAMES, BadInput
from trysim.table.house import House

_EVERYBODY = ("0.0.0.0", "::")
_AT_HOME = ("127.0.0.1", "localhost", "::1")


def serve(folder: Path, host: str, port: int, agents: Sequence[str], pace: float) -> None:
    """Open the house until Ctrl-C; everything that is played is kept in `folder`.

    BadInput if something is missing or an agent cannot be made for any game.
    """
    check_installed("the table in the browser", "starlette", "uvicorn", extra="web")
    import uvicorn

    from trysim.table.server import LOOPBACK, application

    for spec in agents:
        _check_agent(spec)
    house = House(folder, agents, pace)
    for complaint in house.complaints:
        print(f"trysim: left as it is: {complaint}", file=sys.stderr)
    if host not in _AT_HOME:
        print("trysim: whoever reaches this machine can open the house", file=sys.stderr)
    hosts = ("*",) if host in _EVERYBODY else (*LOOPBACK, host)
    app = application(house, hosts)
    config = uvicorn.Config(
        app, host, port, log_level="warning", access_log=False, timeout_graceful_shutdown=2
    )

    class Server(uvicorn.Server):
        """Ends the streams first: they would keep it waiting."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            house.hang_up()
            super().handle_exit(sig, frame)

    server = Server(config)
    shown = "localhost" if host in _EVERYBODY else host
    print(f"http://{shown}:{port}/ (Ctrl-C closes it; matches go on next time)", flush=True)
    try:
        server.run()
    except KeyboardInterrupt:
        pass
    except SystemExit:
        raise BadInput(
            f"port {port} of {host} cannot be opened: is it taken? Is --host of this machine?"
        ) from None


def _check_agent(spec: str) -> None:
    """BadInput if an agent can be made for no game."""
    complaints = []
    for game in GAMES.values():
        try:
            make_agent(spec, game)
        except BadInput as error:
            complaints.append(error)
    if len(complaints) == len(GAMES):
        raise complaints[0]
