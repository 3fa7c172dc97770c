"""How fast the house of tables answers when it is full.

    python benchmarks/house.py --tables 100 --seconds 30

Starts `trysim serve` on one core, begins tables of one person and agents, and lets everybody play
as people do: half a second to a second and a half for a card, now and then a hint. Measured is the
time from sending a card to the answer, and from asking for a hint.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from typing import Any

import httpx2 as httpx
import numpy as np
from rich.console import Console
from rich.table import Table

AGENTS = ("expert", "greedy", "policy", "pimc:worlds=20")
GAMES = {"semerik": 4, "semnadtsat": 4, "sim_lystiv": 4}
HINTS = 0.05  # how often somebody asks for one


async def sit_and_play(
    client: httpx.AsyncClient, number: int, end: float, took: dict[str, list[float]]
) -> None:
    """Play matches at a table until the time is over."""
    rng = random.Random(number)
    game = list(GAMES)[number % len(GAMES)]
    agents = [spec if spec != "policy" else f"policy:{game}" for spec in AGENTS]
    while time.monotonic() < end:
        seats = ["human", *rng.choices(agents, k=GAMES[game] - 1)]
        begun = await client.post("/api/tables", json={"game": game, "seats": seats})
        table = begun.json()["id"]
        taken = await client.post(f"/api/tables/{table}/seats/0", json={})
        await play(client, table, taken.json()["token"], rng, end, took)


async def play(
    client: httpx.AsyncClient,
    table: str,
    token: str,
    rng: random.Random,
    end: float,
    took: dict[str, list[float]],
) -> None:
    """Follow the stream of a table, and decide when it is one's turn."""
    address, decided = f"/api/tables/{table}/events", -1
    async with client.stream("GET", address, params={"token": token}) as stream:
        async for line in stream.aiter_lines():
            if time.monotonic() > end:
                return
            if not line.startswith("data: "):
                continue
            seen = json.loads(line.removeprefix("data: "))
            if seen["over"]:
                return
            if seen["table"]["turn"] == 0 and seen["moment"] != decided:
                decided = seen["moment"]
                await asyncio.sleep(rng.uniform(0.5, 1.5))
                await decide(client, table, token, seen, rng, took)


async def decide(
    client: httpx.AsyncClient,
    table: str,
    token: str,
    seen: dict[str, Any],
    rng: random.Random,
    took: dict[str, list[float]],
) -> None:
    """Send a card, and perhaps ask for a hint before."""
    if rng.random() < HINTS:
        body = {"token": token, "agent": f"policy:{seen['game']}"}
        await timed(client, f"/api/tables/{table}/hint", body, took["hint"])
    action = rng.choice(seen["table"]["legal"])
    body = {"token": token, "action": action, "moment": seen["moment"]}
    await timed(client, f"/api/tables/{table}/act", body, took["card"])


async def timed(
    client: httpx.AsyncClient, address: str, body: dict[str, Any], into: list[float]
) -> None:
    started = time.perf_counter()
    answer = await client.post(address, json=body)
    into.append(time.perf_counter() - started)
    answer.raise_for_status()


async def everybody(base: str, n_tables: int, seconds: float) -> dict[str, list[float]]:
    """Seconds that answers took, by what was asked."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=base, limits=limits, timeout=120) as client:
        for game in GAMES:  # what is compiled or loaded at first use
            for spec in AGENTS:
                agent = spec if spec != "policy" else f"policy:{game}"
                body = {"game": game, "seats": [agent] * GAMES[game], "pace": 0}
                (await client.post("/api/tables", json=body)).raise_for_status()
        await asyncio.sleep(5)
        took: dict[str, list[float]] = {"card": [], "hint": []}
        end = time.monotonic() + seconds
        await asyncio.gather(*(sit_and_play(client, k, end, took) for k in range(n_tables)))
    return took


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--port", type=int, default=8799)
    given = parser.parse_args()
    base = f"http://127.0.0.1:{given.port}"
    command = [sys.executable, "-m", "trysim", "serve", "--port", str(given.port)]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([*command, "--folder", folder])
        os.sched_setaffinity(server.pid, {0})
        os.sched_setaffinity(0, set(range(1, os.cpu_count() or 2)) or {0})
        try:
            wait_for(base)
            took = asyncio.run(everybody(base, given.tables, given.seconds))
        finally:
            server.terminate()
            server.wait()
    show(took, given.tables)
    return 0


def wait_for(base: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(base, timeout=1)
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the house does not open")


def show(took: dict[str, list[float]], n_tables: int) -> None:
    table = Table(title=f"{n_tables} tables, one core: milliseconds to the answer")
    for heading in ("asked", "times", "median", "95 %", "most"):
        table.add_column(heading, justify="left" if heading == "asked" else "right")
    for asked, seconds in took.items():
        if seconds:
            ms = np.array(seconds) * 1000
            numbers = (np.median(ms), np.percentile(ms, 95), ms.max())
            table.add_row(asked, str(len(ms)), *(f"{number:.1f}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
