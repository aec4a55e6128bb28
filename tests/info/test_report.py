"""The report in a terminal: all of it fits, and no name in a file does anything to it."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import kinema as km
from kinema.cli import app
from kinema.demo import humanoid
from kinema.info.facts import facts
from kinema.info.report import report
from tests.assets import asset


def shown(character, everything=False, width=80):
    console = Console(width=width, force_terminal=True, color_system=None, highlight=False, record=False)
    with console.capture() as capture:
        console.print(report(facts(character), everything, width))
    return capture.get()


def chain(names, parents=None):
    count = len(names)
    rest = km.Pose(np.tile((0.0, 1.0, 0.0), (count, 1)), np.tile((0.0, 0, 0, 1), (count, 1)))
    return km.Skeleton(names, parents or list(range(-1, count - 1)), rest)


def test_joints_have_their_roles_and_clips_their_figures():
    text = shown(humanoid())
    for expected in ("left thigh", "right foot", "hips", "head", "walk", "in place", "up +Y, faces +Z", "(metres)"):
        assert expected in text
    assert "no body" not in text


@pytest.mark.parametrize(
    "name",
    ["[bold red]x[/]", "[/]", "a\x1b[2Jb", "a\nb", "a\rb", "bell\x07", "\u202egnp.exe", "[link=file:///]x", "\x00"],
)
def test_names_are_shown_and_nothing_else(name):
    skeleton = chain(["root", name])
    track = km.Track(name, "translation", [0.0, 1.0], [(0, 0, 0), (0, 1, 0)])
    text = shown(km.Character(skeleton, {name: km.Clip(name, skeleton, [track])}, name=name))
    assert not any(c for c in text if not c.isprintable() and c != "\n")
    spelled = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    assert text.count(spelled) >= 3


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_lines_are_as_wide_as_the_terminal_at_most(width):
    names = [f"a very long name of a joint indeed, number {i}" for i in range(12)]
    skeleton = chain(names)
    track = km.Track(names[-1], "rotation", [0.0], [(0, 0, 0, 1)])
    text = shown(km.Character(skeleton, {"c" * 300: km.Clip("c" * 300, skeleton, [track])}), width=width)
    assert max(map(len, text.splitlines())) <= width


def test_every_joint_of_a_long_chain_is_listed():
    names = [f"vertebra_{i:03}" for i in range(200)]
    text = shown(km.Character(chain(names)))
    assert all(name in text for name in names)


def test_unremarkable_joints_are_only_counted_unless_all_are_listed():
    skeleton = chain(["root", "arm", "tip", "mesh", "mesh_part"], [-1, 0, 1, 0, 3])
    track = km.Track("arm", "rotation", [0.0], [(0, 0, 0, 1)])
    character = km.Character(skeleton, {"wave": km.Clip("wave", skeleton, [track])})
    brief, all_of_it = shown(character), shown(character, everything=True)
    assert "mesh" not in brief
    assert "root  (+2)" in brief
    assert "arm  (+1)" in brief
    assert "mesh_part" in all_of_it
    assert "tip" in all_of_it
    assert "(+" not in all_of_it
    assert "mesh" in shown(km.Character(skeleton))  # Where none says anything, all are shown.


def test_problems_and_doubts_are_reported():
    source = SimpleNamespace(problems=[f"node {i} is odd [red]" for i in range(50)])
    text = shown(km.Character(chain(["a"]), source=source))
    assert "node 0 is odd [red]" in text
    assert "30 more" in text
    assert "node 45" not in text
    assert "node 45" in shown(km.Character(chain(["a"]), source=source), everything=True)


def test_doubtful_roles_are_marked():
    skeleton = chain(["root", "thing"])
    rig = km.Rig(skeleton=skeleton, hips="root", head="thing", confidence={"head": 0.3}, doubts=["head: a guess"])
    text = shown(km.Character(skeleton, rig=rig))
    assert "thing  head?" in text
    assert "head: a guess" in text
    assert "head 30%" in text


# --- the command -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "person.glb"
    km.save(path, humanoid())
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, ["info", *map(str, arguments)])


def test_the_command_prints_the_report(file):
    result = invoke(file)
    assert result.exit_code == 0
    assert "person.glb" in result.output
    assert "walk" in result.output


def test_the_command_gives_json(file):
    result = invoke(file, "--json")
    found = json.loads(result.output)
    assert found["file"]["name"] == "person.glb"
    assert {"walk", "idle"} <= {clip["name"] for clip in found["clips"]}


def test_roles_can_be_given(file, tmp_path):
    words = tmp_path / "roles.toml"
    words.write_text('forward = "-z"\n')
    found = json.loads(invoke(file, "--json", "--roles", words).output)
    assert found["space"]["forward"] == pytest.approx([0, 0, -1])
    found = json.loads(invoke(file, "--json", "--roles", words, "--role", "forward=+x").output)
    assert found["space"]["forward"] == pytest.approx([1, 0, 0])


@pytest.mark.parametrize(
    ("words", "says"),
    [(["--role", "hips=nobody"], "nobody"), (["--role", "wing"], "="), (["--roles", "none.toml"], "none")],
)
def test_mistakes_are_reported(file, words, says):
    result = invoke(file, *words)
    assert result.exit_code == 2
    assert says in result.output


def test_files_without_a_character_are_reported(tmp_path):
    path = tmp_path / "note\x1b[2J.txt"
    path.write_text("hello")
    result = invoke(path)
    assert result.exit_code == 2
    assert "\x1b[2J" not in result.output


def test_confidence_is_left_out_where_every_role_is_given_and_no_direction_is_minus_zero():
    made = humanoid()
    rig = replace(made.rig, forward=(0.2, -1e-9, 0.97), confidence={})
    text = shown(replace(made, rig=rig))
    assert "Confidence" not in text
    assert "faces (0.20, 0.00, 0.98)" in text


def test_robots_without_a_body_have_their_unit_and_up():
    text = shown(km.load(asset("urdf/kuka_iiwa.urdf")))
    assert "0 wide, 1.261 tall, 0 deep (metres)\nup +Z, faces +X" in text
    assert "no body was recognised" in text
