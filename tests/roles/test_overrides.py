"""What users say: in words, in files, and wrongly."""

import pytest

from kinema import roles
from kinema.errors import FileError, InputError
from kinema.model.rig import Arm, Leg
from kinema.roles import Overrides, parse_override, read_overrides

FILE = """
hips = "pelvis"
head = ""
spine = ["spine_01", "spine_02"]
tails = [["tail_1", "tail_2"]]
forward = "-z"
up = [0.0, 0.0, 2.0]
floor = -1

[leg.left]
joints = ["thigh_l", "calf_l", "foot_l"]
toe = "ball_l"
sole = 0.08

[arm.right]
shoulder = 12
fingers = [["thumb_01_r"], ["index_01_r", "index_02_r"]]
"""


def test_a_file(tmp_path):
    path = tmp_path / "roles.toml"
    path.write_text(FILE, encoding="utf-8")
    assert read_overrides(path) == Overrides(
        hips="pelvis",
        head="",
        spine=("spine_01", "spine_02"),
        tails=(("tail_1", "tail_2"),),
        forward=(0.0, 0.0, -1.0),
        up=(0.0, 0.0, 1.0),
        floor=-1.0,
        legs=(Leg(name="left", joints=("thigh_l", "calf_l", "foot_l"), toe="ball_l", sole=0.08),),
        arms=(Arm(name="right", joints=(), shoulder=12, fingers=(("thumb_01_r",), ("index_01_r", "index_02_r"))),),
    )


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("hips=pelvis", Overrides(hips="pelvis")),
        ("head=", Overrides(head="")),
        ("spine = a, b ,c", Overrides(spine=("a", "b", "c"))),
        ("neck=", Overrides(neck=())),
        ("forward=+X", Overrides(forward=(1.0, 0.0, 0.0))),
        ("up=0,3,4", Overrides(up=(0.0, 0.6, 0.8))),
        ("floor=-0.5", Overrides(floor=-0.5)),
        ("tails=a,b;c,d", Overrides(tails=(("a", "b"), ("c", "d")))),
        ("leg.left=a,b,c", Overrides(legs=(Leg(name="left", joints=("a", "b", "c")),))),
        ("leg.front_left.toe=t", Overrides(legs=(Leg(name="front_left", joints=(), toe="t"),))),
        ("leg.left.sole=0.1", Overrides(legs=(Leg(name="left", joints=(), sole=0.1),))),
        ("arm.left.fingers=a;b,c", Overrides(arms=(Arm(name="left", joints=(), fingers=(("a",), ("b", "c"))),))),
        ("hips=a=b", Overrides(hips="a=b")),
    ],
)
def test_words(text, same):
    assert parse_override(text) == same


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hips", "no '='"),
        ("hipz=a", "did you mean 'hips'.*allowed are hips, head"),
        ("leg=a,b,c", "needs a name"),
        ("leg.left.too=a", "did you mean 'toe'"),
        ("arm.left.sole=1", "allowed are joints, shoulder, fingers"),
        ("leg.left.sole=high", "sole is 'high'; allowed are numbers"),
        ("floor=nan", "finite"),
        ("up=0,0,0", "zero vector"),
        ("up=1,2", "shape"),
        ("forward=-w", "forward is '-w'"),
    ],
)
def test_wrong_overrides_are_errors(text, problem):
    with pytest.raises(InputError, match=problem):
        parse_override(text)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"hips = ", "not TOML"),
        (b"\xff\xfe", "not TOML"),
        (b"hips = true", "a joint, by name or index"),
        (b"spine = 'a'", "a list of joints"),
        (b"tails = ['a']", "a list of joints"),
        (b"leg = 1", "table by name"),
        (b"[leg.left]\nsole = 'x'", "must be one number"),
        (b"a = " + b"[" * 5000, "not TOML"),
        (b"#" * 2_000_000, "larger than"),
    ],
)
def test_wrong_files_are_reported(tmp_path, content, problem):
    path = tmp_path / "roles.toml"
    path.write_bytes(content)
    with pytest.raises(FileError, match=problem) as raised:
        read_overrides(path)
    assert str(raised.value).startswith(str(path))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="No such file"):
        read_overrides(tmp_path / "none.toml")


def test_later_overrides_take_precedence():
    words = ("leg.left.sole=0.2", "leg.left.toe=t", "head=h")
    reported = roles.Overrides(hips="p", head="x", legs=[Leg(name="left", joints=("a", "b", "c"), sole=0.1)])
    for word in words:
        reported = parse_override(word).over(reported)
    assert reported.hips == "p"
    assert reported.head == "h"
    assert reported.legs == (Leg(name="left", joints=("a", "b", "c"), toe="t", sole=0.2),)
