"""Blocks of the documents that open a window: they run for some frames where their package is installed."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FRAMES = 10


def block(page, word):
    """The block of a page that has a word."""
    found = re.findall(r"```py\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    (one,) = [text for text in found if word in text]
    return one


def code_lines(text):
    return [line for line in text.splitlines() if line.strip() and not line.startswith(("import", "from"))]


def test_the_game_for_pygame_runs(monkeypatch):
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    seen = []

    def get():
        seen.append(None)
        return [pygame.event.Event(pygame.QUIT)] if len(seen) > FRAMES else []

    monkeypatch.setattr(pygame.event, "get", get)
    names = {}
    exec(block("walker_2d.md", "pygame"), names)
    drawn = pygame.surfarray.array3d(names["screen"])
    assert (drawn == 0).all(axis=-1).sum() > 500  # The black legs.
    assert (drawn == 255).all(axis=-1).sum() > 100_000


def test_the_character_of_panda3d_runs():
    core = pytest.importorskip("panda3d.core")
    core.load_prc_file_data("", "window-type offscreen\naudio-library-name null")
    names = {}
    text = block("bridges.md", "ShowBase")
    exec(text.replace("base.run()", f"for _ in range({FRAMES}): base.task_mgr.step()"), names)
    assert names["animator"].update(1 / 60).reports["eyes"] is not None
    assert names["base"].render.find("**/characters")
    names["base"].destroy()


@pytest.mark.parametrize(("page", "word", "most"), [("walker_2d.md", "pygame", 20), ("bridges.md", "ShowBase", 15)])
def test_the_blocks_are_as_short_as_their_pages_say(page, word, most):
    assert len(code_lines(block(page, word))) <= most
