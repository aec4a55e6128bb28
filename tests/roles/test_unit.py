"""Units, by how large bodies are."""

import pytest

from kinema import roles
from kinema.io import files
from kinema.math import arrays
from kinema.model.rig import Rig
from kinema.roles.unit import ABOVE_HEAD, UNITS
from tests.assets import asset
from tests.roles.bodies import MADE, placed, plain


@pytest.mark.parametrize(
    ("file", "metres"),
    [
        ("gltf/CesiumMan.glb", 1.0),
        ("gltf/Fox.glb", 0.01),
        ("gltf/m2m_mixamo-names.glb", 0.01),
        ("gltf/babylon_HVGirl.glb", 0.1),
        ("gltf/m2m_horse.glb", 1.0),
        ("gltf/m2m_spider.glb", 1.0),
        ("bvh/cmu_02_01.bvh", 0.0254 / 0.45),
        ("bvh/three_pirouette.bvh", 0.01),
    ],
)
def test_units_of_real_files(file, metres):
    character = files.load(asset(file), rig=False)
    guess = roles.unit(roles.find(character.skeleton, character.clips, skins=character.skins))
    assert guess.metres == metres
    assert guess.name
    assert 0 < guess.sure <= 1


@pytest.mark.parametrize(
    ("size", "word"), [(1.0, "metres"), (100.0, "centimetres"), (1000.0, "millimetres"), (39.37, "inches")]
)
def test_a_person_in_other_units(size, word):
    character = placed(plain(MADE["humanoid"]()), arrays.from_axis_angle((0.0, 1.0, 0.0), 0.0), size).character
    guess = roles.unit(roles.find(character.skeleton, character.clips))
    assert guess.name == word
    assert guess.height == pytest.approx(1.56, rel=0.01)  # Up to the head's joint.


@pytest.mark.parametrize("tall", [1.25, 1.6, 2.15])
@pytest.mark.parametrize("word", ["metres", "centimetres", "millimetres", "decimetres", "inches", "feet"])
def test_a_height_that_people_have_in_one_unit_decides(tall, word):
    size = tall / (1.56 * ABOVE_HEAD) / UNITS[word]
    character = placed(plain(MADE["humanoid"]()), arrays.from_axis_angle((0.0, 1.0, 0.0), 0.0), size).character
    guess = roles.unit(roles.find(character.skeleton))
    assert guess.name == word
    assert guess.sure > 0.75


def test_the_unit_is_unknown_without_legs():
    skeleton = MADE["spider"]().skeleton
    assert roles.unit(Rig(skeleton=skeleton, hips="tip_1_l")).sure == 0
