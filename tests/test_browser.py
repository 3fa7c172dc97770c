"""The table as people have it: a browser, clicks, keys, a phone, three languages.

Needs Chromium with its driver, and selenium. `TRYSIM_PICTURES=docs/pictures` keeps the pictures
that the documentation shows.
"""

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

webdriver = pytest.importorskip("selenium.webdriver")
pytest.importorskip("uvicorn")
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from trysim.agents import make_agent
from trysim.envs.games import GAMES, game_named

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if not BROWSER or not DRIVER:
    pytest.skip(
        "no Chromium and driver here: apt install chromium chromium-driver", allow_module_level=True
    )

PORT = 8797
SEED = "28"  # a deal of Семерик in which not every card may be played, more than once
SHORT = {"sim_lystiv": {"num_players": "3", "penalty": "interactive"},
         "semnadtsat": {"num_players": "3"}, "semerik": {"horizon": "deal"}}  # fmt: skip
PATIENCE = 60.0  # seconds
PICTURES = os.environ.get("TRYSIM_PICTURES")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    for game in GAMES.values():  # compiled before anybody waits
        for spec in ("greedy", "expert", f"policy:{game.name}"):
            make_agent(spec, game)
    command = [sys.executable, "-m", "trysim", "serve", "--port", str(PORT), "--pace", "0.02"]
    folder = tmp_path_factory.mktemp("house")
    with subprocess.Popen([*command, "--folder", str(folder)]) as server:
        wait(lambda: opens(f"http://localhost:{PORT}/"))
        yield f"http://localhost:{PORT}/"
        server.terminate()


def opens(address):
    try:
        return urllib.request.urlopen(address, timeout=1).status == 200
    except OSError:
        return False


def wait(until):
    """What `until` gives, once it gives something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if found := until():
                return found
        except (StaleElementReferenceException, IndexError):
            pass
        time.sleep(0.05)
    raise AssertionError("nothing happens")


@pytest.fixture
def page(house):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = BROWSER
    try:
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    except WebDriverException as error:
        pytest.skip(f"the browser does not start: {error.msg}")
    page = Page(driver, house)
    yield page
    logged = [entry["message"] for entry in driver.get_log("browser")]
    driver.quit()
    assert [line for line in logged if "favicon" not in line] == []


class Page:
    def __init__(self, driver, house):
        self.driver, self.house = driver, house
        self.size(1280, 860)

    def size(self, width, height):
        self.driver.set_window_size(width, height)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.all(selector)[0].text

    def keep(self, name):
        if PICTURES:
            self.driver.save_screenshot(str(Path(PICTURES) / f"{name}.png"))

    def lobby(self, language="en"):
        self.driver.get(self.house)
        wait(lambda: self.all("#new-table"))
        Select(self.all("#language")[0]).select_by_value(language)
        wait(lambda: self.all(f"html[lang={language}]"))
        time.sleep(0.3)

    def begin(self, game, others="greedy", **options):
        """Begin a table with oneself in the first seat."""
        Select(wait(lambda: self.all("#game"))[0]).select_by_value(game)
        self.driver.execute_script("document.querySelector('#rules').open = true")
        for name, value in {**SHORT[game], **options}.items():
            self.choose(f"[name='option {name}']", value)
        for box in self.all(".seats input")[1:]:
            box.clear()
            box.send_keys(others)
        self.all("[name=seed]")[0].send_keys(SEED)
        self.all("#new-table button.main")[0].click()
        wait(lambda: self.all(".own-hand"))

    def choose(self, selector, text):
        """Choose from a list by what it shows."""
        Select(wait(lambda: self.all(selector))[0]).select_by_visible_text(text)

    def choices(self):
        """What may be clicked: a choice that is no card, or a card."""
        return self.all(".choice") or self.all(".own-hand .legal")

    def my_turn(self):
        return wait(lambda: self.all(".ending") or self.choices())

    def stays(self, until):
        """Whether something is so, and still is when the page has been drawn anew."""
        if not until(self):
            return False
        time.sleep(0.3)
        return until(self)

    def play_out(self, until=lambda page: False):
        """Click whatever comes first, to the end."""
        for _ in range(500):
            self.my_turn()
            if self.all(".ending") or self.stays(until):
                return
            try:
                before = self.text("main .status")
                self.choices()[0].click()
                wait(lambda b=before: self.text("main .status") != b or self.all(".ending"))
            except (StaleElementReferenceException, IndexError):
                continue
        raise AssertionError("the match does not end")


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_match_is_played_by_clicks_and_watched(game, page):
    page.lobby()
    page.begin(game)
    page.play_out()
    assert "over" in page.text(".ending h2")
    page.all(".bar a.main")[0].click()
    wait(lambda: page.all(".bar.watch"))
    wait(lambda: "/" in page.text(".bar.watch output"))
    for _ in range(3):
        before = page.text(".bar.watch output")
        page.all(".bar.watch button[aria-label=forth]")[0].click()
        wait(lambda b=before: page.text(".bar.watch output") != b)
    assert "/3" in page.driver.current_url
    assert len(page.all(".felt .hand .face:not(.own)")) > 10


def test_why_a_card_is_not_allowed_is_told(page):
    page.lobby()
    page.begin("semerik")
    page.play_out(until=lambda page: page.all(".own-hand .closed") and not page.all(".choice"))
    closed = page.all(".own-hand .closed")[0]
    reason = closed.get_attribute("title")
    n_cards = len(page.all(".own-hand button"))
    closed.click()
    wait(lambda: page.text("#complaint") == reason)
    assert "must be" in reason
    assert len(page.all(".own-hand button")) == n_cards


def test_a_card_is_played_by_keys(page):
    page.lobby()
    page.begin("semnadtsat", scoring="seventeen")
    page.play_out(until=lambda page: page.all(".own-hand .legal") and not page.all(".choice"))
    n_cards = len(page.all(".own-hand button"))
    first = page.all(".own-hand .legal")[0]
    page.driver.execute_script("arguments[0].focus()", first)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    wait(lambda: page.all(".ending") or len(page.all(".own-hand button")) < n_cards)


def has_a_choice_late(page):
    """Whether several cards of at most seven may be played."""
    n_cards, n_legal = len(page.all(".own-hand button")), len(page.all(".own-hand .legal"))
    return n_cards <= 7 and n_legal > 1 and not page.all(".choice")


def test_a_hint_is_given(page):
    page.lobby()
    page.begin("semerik", "policy:semerik")
    page.play_out(until=has_a_choice_late)
    page.all("[data-hint]")[0].click()
    told = wait(lambda: page.all(".told"))[0].text
    assert "policy:semerik" in told
    assert "%" in told
    assert page.all(".own-hand .mark")
    page.keep("play")


@pytest.mark.parametrize(("language", "word"), [("uk", "Ваша черга"), ("ru", "Ваша очередь")])
def test_languages_and_their_letters(language, word, page):
    page.lobby(language)
    page.begin("semerik")
    page.my_turn()
    wait(lambda: word in page.text("main .status"))
    page.play_out(until=lambda page: page.all(".own-hand .legal") and not page.all(".choice"))
    names = " ".join(button.get_attribute("aria-label") for button in page.all(".own-hand button"))
    assert not set("JQA") & set(names.replace(".", ""))
    hrefs = [use.get_attribute("href") for use in page.all(".own-hand use")]
    assert all("letters=cyrillic" in href for href in hrefs)


def test_a_phone_shows_everything_that_is_needed(page):
    page.size(390, 844)
    page.lobby()
    page.begin("sim_lystiv")
    page.play_out(until=lambda page: len(page.all(".own-hand .legal")) > 1)
    width = page.driver.execute_script("return document.documentElement.scrollWidth")
    assert width <= page.driver.execute_script("return window.innerWidth")
    for card in page.all(".own-hand button"):
        assert card.size["width"] >= 40
    page.keep("phone")
    page.play_out()


def test_two_browsers_share_a_table_and_a_reload_loses_nothing(page):
    page.lobby()
    Select(page.all("#game")[0]).select_by_value("semerik")
    page.driver.execute_script("document.querySelector('#rules').open = true")
    page.choose("[name='option horizon']", "deal")
    seats = ("human:Olena", "greedy", "human:Ivan", "greedy")
    for box, who in zip(page.all(".seats input"), seats, strict=True):
        box.clear()
        box.send_keys(who)
    page.all("#new-table button.main")[0].click()
    wait(lambda: page.all(".own-hand"))
    table = page.driver.current_url.split("#")[1]
    page.driver.switch_to.new_window("tab")  # another name of the house keeps other tokens
    page.driver.get(f"http://127.0.0.1:{PORT}/#{table}")
    wait(lambda: page.all("[data-sit='2']"))[0].click()
    wait(lambda: page.all(".own-hand"))
    assert "Ivan" in page.text(".own .plate")
    page.driver.refresh()
    wait(lambda: page.all(".own-hand"))
    tabs = page.driver.window_handles
    for _ in range(200):
        for tab in tabs:
            page.driver.switch_to.window(tab)
            try:
                if page.choices():
                    page.choices()[0].click()
            except (StaleElementReferenceException, IndexError):
                continue
            time.sleep(0.05)
        if page.all(".ending"):
            break
    assert page.all(".ending")


def test_a_live_match_between_agents_is_watched(page):
    page.lobby()
    Select(page.all("#game")[0]).select_by_value("semerik")
    page.driver.execute_script("document.querySelector('#rules').open = true")
    page.choose("[name='option horizon']", "deal")
    pace = page.all("[name=pace]")[0]
    pace.clear()
    pace.send_keys("0.5")
    for box in page.all(".seats input"):
        box.clear()
        box.send_keys("greedy")
    page.all("#new-table button.main")[0].click()
    wait(lambda: page.all(".bar.watch"))

    def place():
        return [int(number) for number in page.text(".bar.watch output").split("/")]

    wait(lambda: place()[0] == place()[1] > 2)
    assert not page.all("a[download]")[0].is_displayed()
    page.all(".bar.watch button[aria-label=back]")[0].click()
    page.all(".bar.watch button[aria-label=back]")[0].click()
    at, length = place()
    wait(lambda: place()[1] > length + 2)
    assert place()[0] == at
    page.all(".bar.watch button[aria-label='next deal']")[0].click()
    wait(lambda: page.all("a[download]")[0].is_displayed())
    wait(lambda: place()[0] == place()[1])
    assert page.all("main .status")[0].text


def test_what_agents_think_is_shown_beside_a_record(page, tmp_path):
    from trysim.arena.play import play_match
    from trysim.envs.record import dumps

    game = game_named("semerik")
    agents = [make_agent(spec, game) for spec in ("policy:semerik", "expert") * 2]
    path = tmp_path / "games.jsonl"
    path.write_text(dumps(play_match(game, {"horizon": "deal", "dealer": 3}, agents, 5)) + "\n")
    page.lobby()
    page.all("#records")[0].send_keys(str(path))
    wait(lambda: page.all(".bar.watch"))
    table = page.driver.current_url.split("/")[-2]
    page.driver.get(f"{page.house}#/w/{table}/20")
    page.driver.refresh()
    asked = wait(lambda: page.all("[aria-label='who is asked']"))[0]
    asked.send_keys("policy:semerik" + Keys.ENTER)
    wait(lambda: page.all(".thoughts table tr"))
    wait(lambda: "policy:semerik" in page.text(".thoughts h3"))
    assert page.all(".thoughts .taken")
    page.keep("watch")
