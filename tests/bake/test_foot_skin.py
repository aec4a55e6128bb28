"""The skin of a foot is what follows its joints; where its points are, linear blend skinning says."""

from dataclasses import replace

import numpy as np
import pytest

from kinema.bake.foot_skin import FEWEST, OF_FOOT, foot_skins
from kinema.demo import humanoid

PERSON = humanoid()


def feet_of(character, worlds):
    """By leg: the vertices that follow a foot, as the skin draws them, (F, V, 3)."""
    (skin,) = character.skins
    drawn = skin.deform((worlds @ character.skeleton.inverse_bind)[..., :3, :])
    for leg in character.rig.legs:
        foot = character.skeleton.below([leg.joints[-1]])
        yield drawn[:, (skin.weights * np.isin(skin.joints, foot)).sum(axis=1) > OF_FOOT]


def test_points_are_where_the_skin_is_drawn():
    worlds = PERSON.skeleton.world(PERSON.clips["run"].sample(np.linspace(0.0, 0.6, 7))).astype(np.float64)
    for foot, drawn in zip(foot_skins(PERSON.rig, PERSON.skins), feet_of(PERSON, worlds), strict=True):
        assert foot.points(worlds) == pytest.approx(drawn, abs=1e-5)


def test_some_of_the_points_are_where_they_were_among_all():
    worlds = PERSON.skeleton.rest_world[np.newaxis].astype(np.float64)
    foot = foot_skins(PERSON.rig, PERSON.skins)[0]
    assert foot.chosen([5, 2]).points(worlds) == pytest.approx(foot.points(worlds)[:, [5, 2]])


@pytest.mark.parametrize("vertices", [FEWEST - 1, FEWEST])
def test_a_foot_that_too_few_vertices_show_has_no_skin(vertices):
    (skin,) = PERSON.skins
    leg = PERSON.rig.legs[0]
    mine = np.flatnonzero(skin.joints[:, 0] == int(leg.joints[-1]))[:vertices]
    part = {name: getattr(skin, name)[mine] for name in ("vertices", "joints", "weights", "normals")}
    few = replace(skin, **part, triangles=np.zeros((0, 3), int), colours=None)
    assert (foot_skins(PERSON.rig, [few])[0] is not None) == (vertices == FEWEST)


def test_without_skins_no_foot_has_any():
    assert foot_skins(PERSON.rig, ()) == [None, None]
