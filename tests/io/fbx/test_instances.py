"""A skin that several nodes show moves with each of them and with its joints."""

import numpy as np
import pytest

import kinema as km
from tests.io.fbx import build
from tests.io.fbx.build import HIGH, LAYER, LOW, MESH, SHAPE, SKIN, animated, cluster, element, file, model, moved, take

OTHER = 6
QUARTER = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))


def instanced(others, more=(), bind=None, **settings):
    """Two joints, at 0 and 10 along y, and a square bound to them where its node was, shown by several nodes."""
    bind = moved(0, 0, 0) if bind is None else bind
    to_joint = np.linalg.inv(moved(0, 10, 0))
    objects = [
        model(1, "Low"),
        model(2, "High", Lcl_Translation=(0, 10, 0)),
        model(MESH, "Skin", "Mesh"),
        *others,
        build.square(),
        element("Deformer", SKIN, "Deformer::", "Skin"),
        cluster(LOW, (0, 1), (1, 0.5), bind, moved(0, 0, 0)),
        cluster(HIGH, (1, 2, 3, 4), (0.5, 1, 1, 1), to_joint @ bind, moved(0, 10, 0)),
    ]
    links = [("OO", 2, 1), ("OO", SHAPE, MESH), ("OO", SKIN, SHAPE), ("OO", LOW, SKIN), ("OO", HIGH, SKIN)]
    links += [("OO", 1, LOW), ("OO", 2, HIGH), *(("OO", SHAPE, other[1][0]) for other in others)]
    for parts, joined in more:
        objects, links = objects + parts, [*joined, *links]
    return build.read(file(objects, links, UnitScaleFactor=100.0, **settings))


def posed(character, rotations):
    """The vertices of each skin with these rotations of joints, and the world matrix of each joint."""
    rest = character.skeleton.rest
    turned = rest.rotations.copy()
    for name, rotation in rotations.items():
        turned[[name in known for known in character.skeleton.names]] = rotation
    pose = km.Pose(rest.translations, turned, rest.scales)
    palette, world = character.skeleton.palette(pose), character.skeleton.world(pose)
    return [skin.deform(palette) for skin in character.skins], dict(zip(character.skeleton.names, world, strict=True))


@pytest.mark.parametrize("mirror", [1, -1])
@pytest.mark.parametrize("bind", [moved(0, 0, 0), moved(1, 2, 3)])
def test_an_instance_is_moved_by_its_node_since_it_was_bound(bind, mirror):
    other = model(OTHER, "Other", "Mesh", Lcl_Translation=(50, 0, 0), Lcl_Rotation=(0, 90, 0), Lcl_Scaling=(1, 2, 1))
    character = instanced([other], bind=bind, CoordAxis=0, CoordAxisSign=mirror)
    skins, world = posed(character, {"High": QUARTER})
    alone = posed(instanced([], bind=bind, CoordAxis=0, CoordAxisSign=mirror), {"High": QUARTER})[0][0]
    signs = np.array((mirror, 1, 1))
    placed = bind.copy()
    placed[:3, 3] *= signs
    back = world["Other"] @ np.linalg.inv(placed)
    np.testing.assert_allclose(skins[-1], alone @ back[:3, :3].T + back[:3, 3], atol=1e-4)


def test_a_node_that_stays_needs_no_copies():
    same = instanced([model(OTHER, "Same", "Mesh")])
    assert same.skeleton.names == ("Low", "High", "Skin", "Same")
    assert same.source.problems == ["'Same' shows the skin of another node, where its joints are"]
    other = instanced([model(OTHER, "Other", "Mesh", Lcl_Translation=(50, 0, 0))])
    assert other.skeleton.names[4:] == ("Other_bind", "Low_2", "High_2")
    assert len(other.skins) == 2
    assert set(np.unique(other.skins[0].joints)) == {0, 1}
    assert other.source.problems == []


def test_instances_follow_takes():
    parts = [
        take(),
        animated(2, "Lcl Rotation", {"Z": ((0, 1), (0, 90))}, key=900, layer=LAYER),
        animated(OTHER, "Lcl Translation", {"X": ((0, 1), (0, 50))}, key=920, layer=LAYER),
    ]
    character = instanced([model(OTHER, "Other", "Mesh")], parts)
    pose = character.clips["Walk"].sample(1.0)
    first, second = (skin.deform(character.skeleton.palette(pose)) for skin in character.skins)
    np.testing.assert_allclose(second - first, np.tile((50, 0, 0), (5, 1)), atol=1e-4)
    np.testing.assert_allclose(first[2], (9, 11, 0), atol=1e-5)


def test_instances_share_their_limit(monkeypatch):
    monkeypatch.setattr("kinema.io.fbx.instances.MOST_NODES", 20)
    others = [model(100_000 + n, f"Other{n}", "Mesh", Lcl_Translation=(n + 1, 0, 0)) for n in range(8)]
    with pytest.raises(km.FileError, match="is shown by 9 nodes; with 20 nodes in all, copies included"):
        instanced(others)


def test_a_sheared_bind_transform_is_noted():
    bind = moved(0, 0, 0)
    bind[0, 1] = 0.5
    character = instanced([model(OTHER, "Other", "Mesh", Lcl_Translation=(50, 0, 0))], bind=bind)
    assert character.source.problems[0] == "'Skin' shows a skin that is sheared; it is shown once"
    assert len(character.skins) == 1


def test_parents_come_before_children():
    skeleton = instanced([model(OTHER, "Other", "Mesh", Lcl_Translation=(50, 0, 0))]).skeleton
    assert all(above < below for below, above in enumerate(skeleton.parents))


@pytest.mark.parametrize("first", [[], [element("Transform", moved(0, 0, 0).ravel().tolist())]])
def test_clusters_that_do_not_say_where_they_were_bound_are_passed_over(first):
    """Programs leave clusters without vertices in a file."""
    empty = [element("Deformer", 90, "", "Cluster", inside=first)], [("OO", 90, SKIN)]
    other = model(OTHER, "Other", "Mesh", Lcl_Translation=(50, 0, 0))
    character, whole = instanced([other], more=[empty]), instanced([other])
    assert character.skeleton.names == whole.skeleton.names
    np.testing.assert_array_equal(posed(character, {})[0], posed(whole, {})[0])
