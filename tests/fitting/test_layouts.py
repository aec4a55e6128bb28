"""Layouts: their sizes and orders, joined, mapped, and what is refused."""

import runpy
from pathlib import Path

import pytest

from kinema.errors import InputError
from kinema.fitting.layouts import NAMES, ROLES, layout_of, layout_of_names
from tests.fitting.observing import ORDERS

COUNTS = {
    "mediapipe33": 33,
    "coco17": 17,
    "coco-wholebody": 133,
    "h36m17": 17,
    "smpl22": 22,
    "smpl24": 24,
    "mhr70": 70,
    "openpose25": 25,
    "halpe26": 26,
}


@pytest.mark.parametrize("name", COUNTS)
def test_every_layout_has_as_many_points_as_its_name_says(name):
    roles = layout_of(name).roles
    assert len(roles) == COUNTS[name]
    assert set(roles) - {""} <= ROLES


@pytest.mark.parametrize("name", [name for name in COUNTS if name in ORDERS])
def test_points_are_in_the_order_of_their_source(name):
    other = {"spine1": "spine_low", "spine2": "spine", "spine3": "chest", "mouth_left": "left_mouth_corner"}
    other |= {"mouth_right": "right_mouth_corner"}
    for ours, theirs in zip(layout_of(name).roles, ORDERS[name], strict=True):
        plain = ours.removesuffix("_1").removesuffix("_2")
        assert not ours or plain == other.get(theirs, theirs)


@pytest.mark.parametrize("name", [name for name in NAMES if "hand" not in name])
def test_both_sides_have_the_same_points(name):
    known = set(layout_of(name).known)
    assert {role.replace("left_", "right_") for role in known if role.startswith("left_")} <= known


def test_hands_join_a_body():
    joined = layout_of("coco17+left-hand21+right-hand21", 59)
    assert joined.columns["left_wrist"] == 9
    assert joined.columns["right_index_2"] == 17 + 21 + 6


def test_hands_alone_are_no_body():
    with pytest.raises(InputError, match="no body"):
        layout_of("left-hand21", 21)


def test_markers_are_known_by_their_names():
    order = [f"subject:{name}" for name in layout_of("plug-in-gait").roles][::-1]
    assert layout_of("plug-in-gait", len(order), order).roles == layout_of("plug-in-gait").roles[::-1]


def test_names_of_points_say_which_is_which():
    names = ("extra", "left_shoulder", "right_shoulder", "left_hip", "right_hip", "nose")
    assert layout_of_names(names).roles == ("", *names[1:])
    assert layout_of_names(("left_shoulder", "right_shoulder", "left_hip")) is None
    markers = tuple(f"Bob:{name}" for name in layout_of("plug-in-gait").roles)
    assert layout_of_names(markers).name == "plug-in-gait"


def test_the_picture_of_all_layouts_is_the_one_its_script_draws():
    folder = Path(__file__).parents[2] / "docs" / "pictures"
    drawn = runpy.run_path(str(folder / "make_layouts.py"))["picture"]()
    assert (folder / "layouts.svg").read_text(encoding="utf-8") == drawn
