import random
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from trysim.envs.games import GAMES
from trysim.envs.render import Window, ansi, rgb_array, view
from trysim.envs.rules.row import CUT, DEALS, NAME_TRUMP, PHASE, PLAY, SEAT, STRIKE
from trysim.envs.table_view import action_label, card_text

TABLES = [
    *(("sim_lystiv", n) for n in (2, 3, 4, 5)),
    *(("semnadtsat", n) for n in (3, 4, 5)),
    ("semerik", 4),
]
ANY_CARD = re.compile("[2-9TJQKA][♣♦♥♠]")


def table(name, seed=0, players=None, **options):
    """A game and a row, dealt."""
    game = GAMES[name]
    if players and name != "semerik":
        options["num_players"] = players
    row = game.new_row(options, seed)
    game.kernels.begin(row)
    game.kernels.settle(row)
    return game, row


def play(game, row, n=10**6, seed=0, until=lambda row: False):
    """Up to `n` random legal actions, stopping when `until` holds."""
    choose = random.Random(seed)
    for _ in range(n):
        if game.is_over(row) or until(row):
            break
        game.kernels.step(row, choose.choice(game.legal_actions(row)))
    return row


def at_phase(phase, name="sim_lystiv", **options):
    """A table of the first seed that comes to this phase."""
    for seed in range(50):
        game, row = table(name, seed, **options)
        play(game, row, seed=seed, until=lambda row: row[PHASE] == phase)
        if row[PHASE] == phase:
            return game, row
    raise AssertionError(f"no table comes to phase {phase}")


def cards_in(text):
    return set(ANY_CARD.findall(text))


def texts(cards):
    return {card_text(card) for card in cards}


# The view ---------------------------------------------------------------------------------------
def test_the_view_is_frozen_and_leaves_the_row_alone():
    game, row = table("semerik")
    before = row.copy()
    seen = view(game, row)
    with pytest.raises(FrozenInstanceError):
        seen.deal = 5
    assert (row == before).all()


@pytest.mark.parametrize(("name", "n"), TABLES)
def test_the_view_follows_every_ply(name, n):
    game, row = table(name, 3, n)
    choose = random.Random(n)
    for _ in range(120):
        if game.is_over(row):
            break
        seen = view(game, row)
        w = game.words
        assert [list(seat.hand) for seat in seen.seats] == game.hands(row)
        assert [seat.to_act for seat in seen.seats].index(True) == seen.turn == row[SEAT]
        assert [seat.leader for seat in seen.seats].index(True) == row[w["leader"]]
        assert [seat.tricks for seat in seen.seats] == row[w["tricks"] : w["tricks"] + n].tolist()
        assert sorted(card.card for card in seen.trick) == sorted(game.cards(row[w["trick"]]))
        assert list(seen.legal) == [game.action_text(row, a) for a in game.legal_actions(row)]
        game.kernels.step(row, choose.choice(game.legal_actions(row)))


def test_a_trick_is_told_in_the_order_of_play_with_its_winner():
    game, row = table("semerik", 5, declare="off")
    played = []
    for _ in range(4):
        seat, action = int(row[SEAT]), game.legal_actions(row)[0]
        assert [(c.seat, c.card) for c in view(game, row).trick] == played
        played.append((seat, game.deck[action]))
        game.kernels.step(row, action)
    seen = view(game, row)
    assert seen.trick == ()
    assert {(c.seat, c.card) for c in seen.last_trick} == set(played)
    assert [c.seat for c in seen.last_trick if c.winning] == [row[SEAT]]


def test_the_best_card_of_a_running_trick_is_marked():
    game, row = table("sim_lystiv", 1)
    play(game, row, 3)
    best = game.deck[row[game.words["best"]]]
    assert [c.card for c in view(game, row).trick if c.winning] == [best]


def test_declarations_are_told_with_their_points_and_cards():
    for seed in range(200):
        game, row = table("semerik", seed)
        play(game, row, 1)
        seat = int(row[SEAT])
        offers = [a for a in game.legal_actions(row) if a >= len(game.deck)]
        if not offers:
            continue
        game.kernels.step(row, offers[0])
        seen = view(game, row)
        (text,) = seen.seats[seat].declarations
        assert text.endswith(f"+{seen.score.row('declared')[seat % 2]}")
        assert len(seen.seats[seat].shown) >= 3
        other = view(game, row, (seat + 1) % 4).seats[seat]
        assert other.hand == other.shown == seen.seats[seat].shown
        assert text in ansi(game, row, (seat + 1) % 4)
        return
    raise AssertionError("nobody could declare")


def test_the_turned_up_card_is_seen_in_the_dealers_hand():
    game, row = table("sim_lystiv", 4, dealer=1)
    dealer = view(game, row, 3).seats[1]
    assert dealer.hand == (game.deck[row[game.words["trump_card"]]],)
    assert dealer.n_hidden == 6
    assert dealer.dealer


def test_scores_of_finished_deals_are_told():
    game, row = table("semnadtsat", 2, num_deals=3)
    play(game, row, until=lambda row: row[DEALS] == 2)
    seen = view(game, row)
    assert 41 <= sum(seen.score.row("last deal")) <= 47
    assert seen.score.row("total") == seen.score.row("last deal")
    assert seen.standing == ("deal 2 of 3",)


def test_places_and_the_loser_are_told():
    game, row = at_phase(CUT, penalty="interactive")
    seen = view(game, row)
    loser = int(row[game.words["loser"]])
    assert [seat.loser for seat in seen.seats].index(True) == loser == seen.turn
    assert sorted(seat.place for seat in seen.seats if not seat.loser) == [1, 2, 3]
    assert f"loser: player_{loser}" in seen.standing
    assert seen.penalty.bottom is None


def test_blows_are_told():
    game, row = at_phase(STRIKE, penalty="interactive")
    game.kernels.step(row, game.action_number(row, "extra_blow"))
    seen = view(game, row)
    struck = [seat.seat for seat in seen.seats if "an extra blow" in seat.notes]
    assert len(struck) == 1
    assert seen.penalty.received[struck[0]] == 3 * seen.penalty.blows > 0
    assert card_text(seen.penalty.bottom) in ansi(game, row)


@pytest.mark.parametrize("name", GAMES)
def test_the_end_is_told_with_rewards(name):
    game, row = table(name, 7)
    play(game, row)
    seen = view(game, row)
    assert seen.over
    assert seen.phase == "over"
    assert seen.turn is None
    assert [seat.reward for seat in seen.seats] == game.returns(row).tolist()
    assert seen.last_trick
    assert seen.result in ansi(game, row)


@pytest.mark.parametrize("name", GAMES)
def test_a_table_without_a_match_can_be_drawn(name):
    game = GAMES[name]
    row = game.new_row({}, 0)
    assert "not begun" in ansi(game, row)
    assert rgb_array(game, row).shape == (640, 960, 3)


@pytest.mark.parametrize(("name", "n"), TABLES)
def test_a_table_that_waits_for_a_deck_can_be_drawn(name, n):
    game, row = table(name, 4, n)
    while row[PHASE] > 0 and not game.is_over(row):
        game.kernels.apply(row, game.legal_actions(row)[0])
    assert view(game, row).last_trick
    assert rgb_array(game, row, width=480, height=320).any()


# Text -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "n"), TABLES)
def test_the_text_tells_hands_turn_trick_trumps_and_score(name, n):
    game, row = table(name, 11, n)
    play(game, row, until=lambda row: row[PHASE] == PLAY and row[game.words["n_tricks"]] == 2)
    play(game, row, 1)
    seen, text = view(game, row), ansi(game, row)
    lines = text.split("\n")
    for seat in seen.seats:
        (line,) = [line for line in lines if line[2:].startswith(f"{seat.name} ")]
        assert texts(seat.hand) <= cards_in(line)
        assert line.startswith("> ") == (seat.seat == row[SEAT])
    assert f"player_{row[SEAT]} to act" in lines[0]
    (trick,) = [line for line in lines if line.startswith("trick  ")]
    assert cards_in(trick) == texts(card.card for card in seen.trick)
    assert any(line.startswith("trumps") for line in lines) == (name != "semerik")
    for label, numbers in seen.score.rows:
        assert any(line.split() == [*label.split(), *map(str, numbers)] for line in lines)
    legal = next(line for line in lines if line.startswith("legal"))
    assert all(action_label(action) in legal for action in seen.legal)


@pytest.mark.parametrize(("name", "n"), TABLES)
def test_a_seats_text_shows_no_card_that_it_cannot_see(name, n):
    game, row = table(name, 5, n)
    choose = random.Random(1)
    for _ in range(60):
        for seat in range(n):
            unseen = texts(game.cards(int(game.rules.unseen(row, seat))))
            others = [card for k, hand in enumerate(game.hands(row)) if k != seat for card in hand]
            public = {card for one in view(game, row).seats for card in one.shown}
            secret = texts(set(others) - public)
            assert not cards_in(ansi(game, row, seat)) & secret
            assert secret <= unseen
            assert sum(one.n_hidden for one in view(game, row, seat).seats) == len(secret)
        if game.is_over(row):
            break
        game.kernels.step(row, choose.choice(game.legal_actions(row)))


def test_what_another_seat_may_do_is_hidden_when_it_tells_its_cards():
    game, row = table("semerik", 0)
    turn = int(row[SEAT])
    assert view(game, row, turn).legal
    assert view(game, row, (turn + 1) % 4).legal == ()
    game, row = at_phase(NAME_TRUMP, "semnadtsat")
    assert len(view(game, row, (int(row[SEAT]) + 1) % 4).legal) == 4


def test_escape_codes_come_only_when_asked_for():
    game, row = table("semnadtsat", 1)
    assert "\x1b" not in ansi(game, row)
    coloured = ansi(game, row, colour=True)
    assert "\x1b" in coloured
    assert re.sub("\x1b\\[[0-9]+m", "", coloured) == ansi(game, row)


# Pictures ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "n"), TABLES)
def test_frames_have_their_shape_and_follow_the_play(name, n):
    game, row = table(name, 2, n)
    frames = []
    for _ in range(6):
        frames.append(rgb_array(game, row, width=480, height=320))
        play(game, row, 1)
    play(game, row)
    frames.append(rgb_array(game, row, width=480, height=320))
    for frame in frames:
        assert frame.shape == (320, 480, 3)
        assert frame.dtype == np.uint8
        assert frame.flags.writeable
    for k, frame in enumerate(frames):
        assert all((frame != other).any() for other in frames[:k])


def test_a_frame_depends_on_nothing_but_the_position():
    game, row = table("semerik", 2)
    first = rgb_array(game, row)
    rgb_array(*table("sim_lystiv", 9, 5))
    assert first.shape == (640, 960, 3)
    assert (rgb_array(game, row) == first).all()


@pytest.mark.parametrize("size", [(640, 640), (1280, 720), (240, 160)])
def test_frames_come_in_other_sizes(size):
    width, height = size
    assert rgb_array(*table("semnadtsat", 3, 5), width=width, height=height).shape == (
        height,
        width,
        3,
    )


def test_a_frame_too_small_to_read_is_refused():
    with pytest.raises(ValueError, match="at least 240 x 160"):
        rgb_array(*table("semerik"), width=100, height=100)


def test_a_seats_frame_does_not_depend_on_what_it_cannot_see():
    game, row = table("semerik", 8, declare="off", dealer=3)  # seat 0 leads
    other = row.copy()
    hands = game.words["hands"]
    other[hands + 1], other[hands + 3] = row[hands + 3], row[hands + 1]
    assert (rgb_array(game, row, 2) == rgb_array(game, other, 2)).all()
    assert (rgb_array(game, row) != rgb_array(game, other)).any()


@pytest.mark.parametrize("phase", [CUT, STRIKE])
def test_the_penalty_can_be_drawn(phase):
    game, row = at_phase(phase, penalty="interactive")
    frame = rgb_array(game, row)
    game.kernels.step(row, game.legal_actions(row)[0])
    assert (rgb_array(game, row) != frame).any()


def test_naming_trumps_can_be_drawn():
    game, row = at_phase(NAME_TRUMP, "semnadtsat")
    frame = rgb_array(game, row)
    game.kernels.step(row, game.action_number(row, "trump:H"))
    assert view(game, row).trump == "H"
    assert (rgb_array(game, row) != frame).any()


def test_pictures_and_windows_are_imported_when_wanted():
    code = (
        "import sys, trysim.envs.render as r; assert 'PIL' not in sys.modules;"
        "from trysim.envs.games import GAMES; g = GAMES['semerik'];"
        "r.rgb_array(g, g.new_row({}, 0));"
        "assert 'PIL' in sys.modules and 'pygame' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The window -------------------------------------------------------------------------------------
@pytest.fixture
def pygame(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    return pytest.importorskip("pygame")


def test_a_window_shows_frames_and_closes_twice(pygame):
    frame = rgb_array(*table("sim_lystiv"), width=480, height=320)
    window = Window("test")
    window.show(frame)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    assert (shown == frame).all()
    window.show(rgb_array(*table("semerik")))
    assert pygame.display.get_surface().get_size() == (960, 640)
    window.close()
    window.close()
    window.show(frame)
    assert not pygame.display.get_init()


def test_a_window_closed_by_the_person_stays_closed(pygame):
    frame = rgb_array(*table("sim_lystiv"), width=480, height=320)
    window = Window()
    window.show(frame)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(frame)
    assert window.closed
    assert not pygame.display.get_init()
    window.show(frame)
    window.close()


def test_a_window_that_was_never_opened_closes():
    Window().close()


def test_a_window_without_pygame_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"pip install \"trysim\[human\]\""):
        Window().show(np.zeros((320, 480, 3), np.uint8))
