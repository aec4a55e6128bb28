"""Blocks of the documents that open a window: they run for some frames where their package is installed."""

import os
import re
from pathlib import Path

import pytest

from tests.documents import python_blocks

DOCS = Path(__file__).parents[2] / "docs"
FRAMES = 10


def block(page, word):
    """The block of a page that has a word."""
    found = re.findall(r"```py\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)
    (one,) = [text for text in found if word in text]
    return one


def animator():
    """The first block of the page, which the others go on from."""
    names = {}
    exec(python_blocks(DOCS / "bridges.md")[0], names)
    return names


needs_a_screen = pytest.mark.skipif("DISPLAY" not in os.environ, reason="a window needs a screen")


def test_the_block_of_viser_runs(monkeypatch):
    viser = pytest.importorskip("viser")
    served = []

    class Server(viser.ViserServer):
        def __init__(self, **settings):
            super().__init__(**settings, port=0, verbose=False)
            served.append(self)

    monkeypatch.setattr(viser, "ViserServer", Server)
    exec(block("bridges.md", "import viser").replace("while True", f"for _ in range({FRAMES})"), animator())
    assert served[0].scene._handle_from_node_name["/characters"].vertices[:, 2].max() > 1.5
    served[0].stop()


def test_the_block_of_rerun_runs(monkeypatch, tmp_path):
    pytest.importorskip("rerun")
    monkeypatch.chdir(tmp_path)
    text = block("bridges.md", "import rerun")
    exec(text.replace(", spawn=True)", '); rerun.save("walk.rrd")').replace("300", str(FRAMES)), animator())
    assert (tmp_path / "walk.rrd").exists()


@needs_a_screen
def test_the_block_of_raylib_runs(monkeypatch):
    pyray = pytest.importorskip("pyray")
    closes = iter([False] * FRAMES + [True])
    monkeypatch.setattr(pyray, "window_should_close", lambda: next(closes))
    names = animator()
    exec(block("bridges.md", "pyray"), names)
    assert names["z"] > 0.05
    pyray.close_window()


@needs_a_screen
def test_the_block_of_pyglet_runs():
    pytest.importorskip("pyglet")
    names = animator()
    exec(block("bridges.md", "pyglet").replace("pyglet.app.run()", ""), names)
    for _ in range(FRAMES):
        names["on_draw"]()
    assert names["animator"].update(0.0).transform[2, 3] > 0.05
    names["window"].close()


def test_the_block_of_mujoco_runs(monkeypatch):
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("mujoco.viewer")

    class Viewer:
        """What a passive viewer offers, without a window."""

        def __init__(self, model, data):
            self.user_scn, self.left = mujoco.MjvScene(model, maxgeom=1000), FRAMES

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def is_running(self):
            self.left -= 1
            return self.left >= 0

        def sync(self):
            pass

    monkeypatch.setattr(mujoco.viewer, "launch_passive", Viewer)
    names = animator()
    exec(block("bridges.md", "launch_passive"), names)
    assert names["viewer"].user_scn.ngeom > 20


def test_the_block_of_trimesh_runs(monkeypatch, tmp_path):
    pytest.importorskip("trimesh")
    monkeypatch.chdir(tmp_path)
    exec(block("bridges.md", "import trimesh"), animator())
    assert (tmp_path / "frame.obj").stat().st_size > 100_000


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
