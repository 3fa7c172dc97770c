"""Films of matches, and pictures as SVG."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from trysim.envs.games import GAMES, BadInput, game_named
from trysim.envs.table_view import view
from trysim.table.film import render
from trysim.table.match import Match
from trysim.table.vector import drawing

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = {"sim_lystiv": {"penalty": "interactive"}, "semerik": {"horizon": "deal"}}


@pytest.fixture(scope="module")
def story():
    match = Match(game_named("semerik"), {"horizon": "deal"}, ["random"] * 4, 1)
    match.let_agents_act()
    return match.story


@pytest.mark.parametrize("name", GAMES)
def test_every_table_can_be_drawn_as_svg(name):
    game, options = game_named(name), OPTIONS.get(name, {})
    match = Match(game, options, ["random"] * game.n_players(game.complete_options(options)), 3)
    while True:
        picture = ElementTree.fromstring(drawing(view(game, match.row)))
        known = {element.get("id") for element in picture.iter()}
        used = {element.get("href", "#").removeprefix("#") for element in picture.iter(f"{SVG}use")}
        assert used <= known
        shown = {name for name in used if re.fullmatch("[2-9TJQKA][CDHS]", name)}
        assert {card for hand in game.hands(match.row) for card in hand} <= shown
        if match.is_over:
            break
        match.let_agent_act()


def test_a_seat_hides_the_others_cards_from_svg():
    match = Match(game_named("semerik"), {"declare": "off"}, ["random"] * 4, 3)
    text = drawing(view(match.game, match.row, 0))
    hands = match.game.hands(match.row)
    assert all(f'href="#{card}"' in text for card in hands[0])
    assert not any(
        f'"{card}"' in text or f'#{card}"' in text for hand in hands[1:] for card in hand
    )


def test_a_gif_has_a_frame_for_every_moment(story, tmp_path):
    path, done = tmp_path / "match.gif", []
    render(story, path, size=(480, 320), first=2, last=8, advance=done.append)
    with Image.open(path) as film:
        assert film.size == (480, 320)
        assert film.n_frames >= 7
        assert film.info["duration"] == 500
    assert sum(done) == 7


def test_an_svg_moves(story, tmp_path):
    path = tmp_path / "match.svg"
    render(story, path, fps=4, last=5)
    picture = ElementTree.parse(path).getroot()
    frames = [group for group in picture.findall(f"{SVG}g") if group.get("class") == "m"]
    assert [frame.get("style") for frame in frames][:2] == [
        "animation-delay:0.000s",
        "animation-delay:0.250s",
    ]
    assert len(frames) == 6


def test_a_png_is_one_moment(story, tmp_path):
    render(story, tmp_path / "a.png", first=7, seat=1)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (960, 640)


def test_an_mp4_is_written(story, tmp_path):
    reader = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "match.mp4"
    render(story, path, fps=2, size=(480, 320), last=5)
    frames = reader.read_frames(str(path))
    about = next(frames)
    assert about["size"] == (480, 320)
    assert about["duration"] == pytest.approx(5, abs=0.6)
    first = np.frombuffer(next(frames), np.uint8)
    assert first.std() > 10


@pytest.mark.parametrize(
    ("name", "more", "complaint"),
    [
        ("a.avi", {}, "must end in"),
        ("a.gif", {"fps": 0}, "fps"),
        ("a.gif", {"size": (10, 10)}, "size"),
        ("a.gif", {"first": 9, "last": 3}, "moments 9 to 3"),
        ("a.svg", {"last": 9999}, "moments"),
        ("none/a.gif", {}, "no directory"),
    ],
)
def test_wrong_films_are_not_begun(name, more, complaint, story, tmp_path):
    with pytest.raises(BadInput, match=complaint):
        render(story, tmp_path / name, **more)
    assert list(tmp_path.iterdir()) == []


def test_videos_of_gymnasium(tmp_path):
    pytest.importorskip("moviepy")
    import gymnasium
    from gymnasium.wrappers import RecordVideo

    import trysim.envs  # noqa: F401

    env = gymnasium.make(
        "trysim/Semerik-v0", opponents="greedy", horizon="deal", render_mode="rgb_array"
    )
    env = RecordVideo(env, str(tmp_path), disable_logger=True)
    env.reset(seed=1)
    over = False
    while not over:
        mask = env.unwrapped.action_masks()
        _, _, over, _, _ = env.step(int(np.flatnonzero(mask)[0]))
    env.close()
    assert [path.suffix for path in tmp_path.glob("*.mp4")] == [".mp4"]


def test_videos_of_pettingzoo(tmp_path):
    pytest.importorskip("moviepy")
    wrappers = pytest.importorskip("pettingzoo.utils.wrappers")
    if not hasattr(wrappers, "RecordVideo"):
        pytest.skip("this release of pettingzoo records no videos")
    from trysim.envs import semnadtsat_v0

    env = semnadtsat_v0.env(num_players=3, render_mode="rgb_array")
    env = wrappers.RecordVideo(env, str(tmp_path / "videos"))
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, terminated, _, _ = env.last()
        env.step(None if terminated else int(np.flatnonzero(observation["action_mask"])[0]))
    env.close()
    assert [path.suffix for path in (tmp_path / "videos").iterdir()] == [".mp4"]
