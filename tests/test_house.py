"""The house of tables: what reaches a seat, who may act, what is kept."""

import asyncio
import json
import random
import re
import time

import numpy as np
import pytest

from trysim.envs.games import GAMES, game_named
from trysim.envs.rules.row import NOBODY, SEAT
from trysim.envs.table_view import view
from trysim.envs.worlds import InformationSet
from trysim.table.match import Match
from trysim.table.pictures import picture

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from trysim.table.house import BadInput, House, check_open
from trysim.table.server import application

SHORT = {
    "sim_lystiv": {"num_players": 3, "penalty": "interactive"},
    "semnadtsat": {"num_players": 3},
    "semerik": {"horizon": "deal"},
}


@pytest.fixture
def client(tmp_path):
    with TestClient(application(House(tmp_path / "house", pace=0.0))) as client:
        yield client


def begin(client, name, seats=None, **more):
    game = game_named(name)
    n = game.n_players(game.complete_options(SHORT[name]))
    seats = seats or ["human", *["greedy"] * (n - 1)]
    body = {"game": name, "options": SHORT[name], "seats": seats, **more}
    answer = client.post("/api/tables", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def sit(client, table, seat=0):
    answer = client.post(f"/api/tables/{table}/seats/{seat}", json={})
    assert answer.status_code == 201, answer.text
    return answer.json()["token"]


def now(client, table, token="", **query):
    told = client.get(f"/api/tables/{table}", params={"token": token}).json()
    moment = told["decisions"]
    query = {"token": token, **query}
    return client.get(f"/api/tables/{table}/moments/{moment}", params=query).json()


def play_out(client, table, token, seed=1, seat=0, watch=lambda seen: None):
    """Play at random to the end; how often it was one's turn."""
    rng, n = random.Random(seed), 0
    until = time.monotonic() + 60
    while time.monotonic() < until:
        seen = now(client, table, token)
        watch(seen)
        if seen["table"]["over"]:
            return n
        if seen["table"]["turn"] != seat:
            time.sleep(0.002)
            continue
        action = rng.choice(seen["table"]["legal"])
        body = {"token": token, "action": action, "moment": seen["moment"]}
        answer = client.post(f"/api/tables/{table}/act", json=body)
        assert answer.status_code == 200, answer.text
        n += 1
    raise AssertionError("the match does not end")


# Privacy ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_a_picture_does_not_depend_on_cards_that_the_seat_may_not_know(name, seed):
    game = game_named(name)
    n = game.n_players(game.complete_options(SHORT[name]))
    match, rng = Match(game, SHORT[name], ["random"] * n, seed), random.Random(seed)
    while not match.is_over:
        seat = int(match.row[SEAT])
        seen = picture(game, match.row, seat, "uk", str)
        worlds = InformationSet(game, game.view(match.row, seat), seat).worlds(
            3, seed=rng.randrange(2**32)
        )
        for world in worlds:
            assert picture(game, world, seat, "uk", str) == seen
        for other in range(n):
            hidden = set(game.hands(match.row)[other]) - set(
                view(game, match.row, NOBODY).seats[other].hand
            )
            if other != seat:
                assert not hidden & set(seen["seats"][other]["hand"])
        match.let_agent_act()


@pytest.mark.parametrize("name", GAMES)
def test_all_that_is_sent_while_people_play_hides_the_others_cards(name, client):
    table = begin(client, name)
    token, house = sit(client, table), client.app.state.house

    def watch(seen):
        public = now(client, table)
        asked_for_all = now(client, table, token, seat=1)
        if house.tables[table].match.is_over:  # it may have ended between two of the requests
            return
        for told, eyes in ((seen, 0), (asked_for_all, 0), (public, None)):
            for seat in told["table"]["seats"]:
                if seat["seat"] != eyes:
                    assert len(seat["hand"]) == len(seat["shown"])
        assert str(house.tables[table].match.seed) not in json.dumps([seen, public])

    play_out(client, table, token, watch=watch)
    assert now(client, table)["table"]["over"]


def test_moments_of_the_past_hide_cards_too(client):
    table = begin(client, "semerik")
    token = sit(client, table)
    time.sleep(0.2)
    seen = client.get(f"/api/tables/{table}/moments/0", params={"seat": 2}).json()
    assert all(not seat["hand"] for seat in seen["table"]["seats"])
    seen = client.get(f"/api/tables/{table}/moments/0", params={"token": token}).json()
    assert [len(seat["hand"]) for seat in seen["table"]["seats"]] == [10, 0, 0, 0]


def test_what_agents_think_is_not_told_while_people_play(client):
    table = begin(client, "semerik", ["human", "greedy", "greedy", "greedy"])
    answer = client.get(f"/api/tables/{table}/moments/0/thought", params={"agent": "expert"})
    assert answer.status_code == 400
    assert "over" in answer.json()["error"]
    assert client.get(f"/api/tables/{table}/record").status_code == 400


# Whole matches ------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", GAMES)
def test_a_match_is_played_recorded_and_watched(name, client):
    table = begin(client, name)
    assert play_out(client, table, sit(client, table)) > 5
    record = client.get(f"/api/tables/{table}/record")
    assert record.json()["agents"][0] == "human"
    (again,) = client.post("/api/records", content=record.content).json()
    length = again["decisions"]
    for moment in (0, length // 2, length):
        one, two = (
            client.get(f"/api/tables/{which}/moments/{moment}").json()["table"]
            for which in (table, again["id"])
        )
        assert one == two
    thought = client.get(
        f"/api/tables/{table}/moments/0/thought", params={"agent": "pimc:worlds=5"}
    ).json()
    assert thought["agent"] == "pimc:worlds=5"
    assert thought["choice"]


def test_a_hint_is_for_ones_own_turn(client):
    table = begin(client, "semerik")
    token = sit(client, table)
    while now(client, table, token)["table"]["turn"] != 0:
        time.sleep(0.01)
    body = {"token": token, "agent": "policy:semerik"}
    hint = client.post(f"/api/tables/{table}/hint", json=body).json()
    legal = now(client, table, token)["table"]["legal"]
    assert hint["choice"] in legal
    assert sorted(action for action, *_ in hint["numbers"]) == sorted(legal)
    assert sum(number for *_, number in hint["numbers"]) == pytest.approx(1)
    assert isinstance(hint["value"], float)
    wrong = client.post(f"/api/tables/{table}/hint", json={"token": "x", "agent": "expert"})
    assert wrong.status_code == 400


def test_a_card_that_is_sent_twice_is_played_once(client):
    table = begin(client, "semerik", ["human"] * 4)
    tokens = [sit(client, table, seat) for seat in range(4)]
    seen = now(client, table, tokens[0])
    turn = seen["table"]["turn"]
    seen = now(client, table, tokens[turn])
    card = seen["table"]["may_play"] if "may_play" in seen["table"] else seen["table"]["legal"]
    card = next(action for action in card if len(action) == 2)
    body = {"token": tokens[turn], "action": card, "moment": 0}
    answers = [client.post(f"/api/tables/{table}/act", json=body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert "moved on" in answers[1].json()["error"]
    assert now(client, table)["moment"] == 1


# Bad requests -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"game": "bridge"}, "bridge"),
        ({"game": "semerik", "seats": ["human"]}, "4 play"),
        ({"game": "semerik", "seats": "human"}, "a list"),
        ({"game": "semerik", "seats": [1, 2, 3, 4]}, "human"),
        ({"game": "semerik", "seats": ["human"] * 4, "options": {"x": 1}}, "x"),
        ({"game": "semerik", "seats": ["human"] * 4, "seed": -1}, "seed"),
        ({"game": "semerik", "seats": ["human"] * 4, "seed": "7"}, "seed"),
        ({"game": "semerik", "seats": ["human:<b>"] * 4}, "no name"),
        ({"game": "semerik", "seats": ["nobody"] * 4}, "nobody"),
        ({"game": "semerik", "seats": ["python:os:system"] * 4}, "without files"),
        ({"game": "semerik", "seats": ["policy:/etc"] * 4}, "without files"),
        ({"game": "semerik", "seats": ["pimc:worlds=9999999"] * 4}, "at most"),
        (
            {"game": "semerik", "seats": ["pimc:worlds=5,rollout=python:x.py:y"] * 4},
            "without files",
        ),
        ({"game": "semerik", "seats": ["oracle"] * 4}, "without files"),
        ([], "object"),
    ],
)
def test_a_wrong_table_is_not_begun(body, complaint, client, tmp_path):
    answer = client.post("/api/tables", json=body)
    assert answer.status_code == 400
    assert complaint in answer.json()["error"]
    assert client.get("/api/house").json()["tables"] == []
    assert list((tmp_path / "house").iterdir()) == []


def test_bad_requests_hurt_no_table(client):
    table = begin(client, "semerik", ["human"] * 4)
    token = sit(client, table)
    before = now(client, table, token)
    requests = [
        client.post(
            f"/api/tables/{table}/act", content=b"{", headers={"content-type": "application/json"}
        ),
        client.post(
            f"/api/tables/{table}/act",
            content=b'{"action": "7H"}',
            headers={"content-type": "text/plain"},
        ),
        client.post(f"/api/tables/{table}/act", json={"token": "wrong", "action": "7H"}),
        client.post(f"/api/tables/{table}/act", json={"token": token, "action": "9S"}),
        client.post(f"/api/tables/{table}/act", json={"token": 7, "action": []}),
        client.post(f"/api/tables/{table}/seats/0", json={}),
        client.post(f"/api/tables/{table}/seats/9", json={}),
        client.get(f"/api/tables/{table}/moments/99"),
        client.get(f"/api/tables/{table}/moments/0", params={"seat": 9}),
        client.get(f"/api/tables/{table}", params={"language": "xx"}),
        client.post("/api/records", content=b"nonsense\n"),
        client.post("/api/records", content=b""),
    ]
    for answer in requests:
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]
    assert client.get("/api/tables/none").status_code == 404
    assert now(client, table, token) == before


def test_the_page_answers_to_its_own_name_only(client):
    answer = client.get("/api/house", headers={"host": "evil.example"})
    assert answer.status_code == 400


def test_cards_are_drawn_in_both_alphabets(client):
    latin = client.get("/cards.svg").text
    cyrillic = client.get("/cards.svg", params={"letters": "cyrillic"}).text
    for code in ("7H", "TS", "AC", "back", "suit-D"):
        assert f'id="{code}"' in latin
        assert f'id="{code}"' in cyrillic
    assert ">Д</text>" in cyrillic
    assert ">Q</text>" in latin
    assert client.get("/cards.svg", params={"letters": "runes"}).status_code == 400


def test_pages_hold_together(client):
    page = client.get("/").text
    for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        assert client.get(name).status_code == 200
    for name in ("main", "api", "draw", "lobby", "table", "watch"):
        script = client.get(f"/static/{name}.js").text
        for other in re.findall(r'from "\./(\w+\.js)"', script):
            assert client.get(f"/static/{other}").status_code == 200


# Later --------------------------------------------------------------------------------------------
def test_a_house_that_is_opened_again_has_all_its_tables(tmp_path):
    folder = tmp_path / "house"
    with TestClient(application(House(folder, pace=0.0))) as client:
        done, open_ = begin(client, "semerik"), begin(client, "semnadtsat")
        play_out(client, done, sit(client, done))
        token = sit(client, open_)
        time.sleep(0.3)
        before = now(client, open_, token)
    house = House(folder, pace=0.0)
    assert house.complaints == []
    with TestClient(application(house)) as client:
        assert now(client, done)["table"]["over"]
        after = now(client, open_, token)
        assert after["moment"] >= before["moment"]
        answer = client.post(f"/api/tables/{open_}/seats/0", json={})
        assert "taken" in answer.json()["error"]
        play_out(client, open_, token)


def test_a_broken_file_is_told_of_and_the_house_opens(tmp_path):
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "bad.jsonl.part").write_text("nonsense\n")
    (folder / "worse.jsonl").write_text("{}\n")
    house = House(folder)
    assert len(house.complaints) == 2
    assert house.tables == {}
    assert (folder / "bad.jsonl.part").read_text() == "nonsense\n"


def test_agents_of_the_house_are_let_in(tmp_path):
    house = House(tmp_path, agents=["python:examples/own_agent.py:make"])
    with pytest.raises(BadInput):
        check_open("python:examples/own_agent.py:make")
    assert "python:examples/own_agent.py:make" in house.agents


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [(lambda n: np.full(n, 53), "not legal"), (lambda n: 1 // 0, "division"), (print, "wrong: ")],
)
def test_an_own_agent_that_goes_wrong_stops_its_table_only(answer, complaint, tmp_path):
    class Wrong:
        spec = "wrong"

        def act(self, decisions):
            return answer(decisions.n)

    async def scene():
        house = House(tmp_path, pace=0.0)
        house.agents.append("wrong")
        house._made["wrong", "semerik"] = Wrong()
        bad = await house.begin("semerik", {}, ["wrong"] * 4, 1, 0.0)
        good = await house.begin("semerik", {"horizon": "deal"}, ["random"] * 4, 1, 0.0)
        while not (bad.broken and good.is_over):
            await asyncio.sleep(0.01)
        house.close()
        return bad.broken

    assert complaint in asyncio.run(scene())


def test_complaints_are_told_in_the_language_of_the_page(client):
    table = begin(client, "semerik", ["human:Оля", "human:Ян", "human:Юля", "human:Яна"])
    tokens = [sit(client, table, seat) for seat in range(4)]
    told = {
        language: client.post(f"/api/tables/{table}/seats/0?language={language}", json={}).json()
        for language in ("en", "uk", "ru", "runes")
    }
    assert [answer["error"] for answer in told.values()] == [
        "seat 1 is taken", "місце 1 зайняте", "место 1 занято", "seat 1 is taken"
    ]  # fmt: skip
    turn = now(client, table)["table"]["turn"]
    body = {"token": tokens[(turn + 1) % 4], "action": "7H"}
    said = client.post(f"/api/tables/{table}/act?language=uk", json=body).json()["error"]
    assert said == f"зараз ходить {['Оля', 'Ян', 'Юля', 'Яна'][turn]}"
