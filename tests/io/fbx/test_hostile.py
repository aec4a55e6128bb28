"""Small files that ask for much time: every pair of many things, found by no damage to a real file."""

import numpy as np
import pytest

import kinema as km
from tests.io.fbx import build
from tests.io.fbx.build import LAYER, SHAPE, SKIN, animated, cluster, element, file, model, moved, take

TOO_MUCH = "together more than the"


def test_many_nodes_that_show_a_skin_of_many_clusters():
    clusters = [cluster(10_000 + n, (), (), moved(0, 0, 0), moved(0, 0, 0)) for n in range(3_000)]
    objects = [model(n, f"N{n}", "Mesh") for n in range(50_000, 53_000)]
    objects += [build.square(), element("Deformer", SKIN, "", "Skin"), *clusters]
    links = [("OO", SHAPE, n) for n in range(50_000, 53_000)] + [("OO", SKIN, SHAPE)]
    links += [("OO", 10_000 + n, SKIN) for n in range(3_000)]
    with pytest.raises(km.FileError, match=TOO_MUCH):
        build.read(file(objects, links))


def test_many_meshes_that_may_have_instances():
    objects = [model(n, f"N{n}", "Mesh") for n in range(50_000, 51_000)]
    objects += [element("Geometry", 10_000 + n, "", "Mesh") for n in range(4_000)]
    objects += [element("Deformer", SKIN, "", "Skin"), cluster(9_000, (0,), (1,), moved(0, 0, 0), moved(0, 0, 0))]
    links = [("OO", 10_000 + n, node) for n in range(4_000) for node in (50_001, 50_002)]
    links += [("OO", SKIN, 10_000 + n) for n in range(4_000)] + [("OO", 9_000, SKIN), ("OO", 50_003, 9_000)]
    with pytest.raises(km.FileError, match=TOO_MUCH):
        build.read(file(objects, links))


def test_many_takes_of_one_layer():
    objects, links = [model(1, "A")], []
    parts = [take(), *(animated(1, "Lcl Rotation", {}, key=1_000 + n) for n in range(1_500))]
    for more, joined in parts:
        objects, links = objects + more, links + joined
    objects += [element("AnimationStack", 20_000 + n, "AnimStack::T", "") for n in range(1_500)]
    links += [("OO", LAYER, 20_000 + n) for n in range(1_500)]
    with pytest.raises(km.FileError, match=TOO_MUCH):
        build.read(file(objects, links))


def test_many_takes_of_many_nodes():
    objects, links = [model(n, f"N{n}") for n in range(50_000, 54_000)], []
    more, joined = animated(50_000, "Lcl Rotation", {}, key=10_000)
    objects += [*more, element("AnimationLayer", LAYER, "", "")]
    objects += [element("AnimationStack", 20_000 + n, "AnimStack::T", "") for n in range(3_000)]
    links += [*joined, *(("OO", LAYER, 20_000 + n) for n in range(3_000))]
    with pytest.raises(km.FileError, match=TOO_MUCH):
        build.read(file(objects, links))


def test_many_scales_below_each_other():
    """Each is multiplied by all above it, at the times of the keys of all of these."""
    rng = np.random.default_rng(1)
    objects, links = take()
    for n in range(600):
        objects.append(model(1_000 + n, f"N{n}", Lcl_Scaling=(1, 1.01, 1), InheritType=0))
        links.append(("OO", 1_000 + n, 999 + n if n else 0))
        keys = np.sort(rng.uniform(size=10)).tolist()
        more, joined = animated(
            1_000 + n, "Lcl Scaling", {"X": (keys, rng.uniform(1, 2, 10).tolist())}, key=10_000 + 10 * n
        )
        objects, links = objects + more, links + joined
    with pytest.raises(km.FileError, match=TOO_MUCH):
        build.read(file(objects, links))


@pytest.mark.parametrize("large", [1e99, 1e-99, 1e-200, 0.0])
def test_bind_matrices_at_the_ends_of_the_range(large):
    """Copies of joints need their inverse."""
    bind = np.diag((large, large, large, 1.0))
    objects = [model(1, "A"), model(2, "B", "Mesh"), model(3, "C", "Mesh", Lcl_Translation=(5, 0, 0)), build.square()]
    objects += [element("Deformer", SKIN, "", "Skin"), cluster(9, (0, 1), (1, 1), bind, bind)]
    links = [("OO", SHAPE, 2), ("OO", SHAPE, 3), ("OO", SKIN, SHAPE), ("OO", 9, SKIN), ("OO", 1, 9)]
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        try:
            character = build.read(file(objects, links))
        except km.FileError:
            return
    assert np.isfinite(character.skeleton.rest_world).all()


def test_curves_with_tangents_that_are_not_numbers():
    """Their bits are written as whole numbers."""
    for broken in (np.nan, np.inf, -np.inf, 3e38):
        objects, links = [model(1, "A")], []
        given = {"flags": [8 | 0x400 | 0x3000000] * 3, "data": [(broken,) * 4] * 3}
        for more, joined in (take(), animated(1, "Lcl Rotation", {"X": ((0, 0.5, 1), (0, 90, 0), given)})):
            objects, links = objects + more, links + joined
        clip = build.read(file(objects, links)).clips["Walk"]
        assert all(np.isfinite(part).all() for part in clip.sample(np.linspace(0, 1, 50)).arrays())


def test_nodes_in_a_circle_are_refused():
    with pytest.raises(km.FileError, match="its own descendant; nodes must form a tree"):
        build.read(file([model(1, "A"), model(2, "B")], [("OO", 1, 2), ("OO", 2, 1)]))


def test_deformers_and_curves_in_circles_are_read():
    objects = [model(1, "A", "Mesh"), build.square(), element("Deformer", SKIN, "", "Skin")]
    objects += [element("Deformer", 400, "", "BlendShape"), element("Deformer", 401, "", "BlendShapeChannel")]
    objects += [build.shape(501, "S", (0,), [(0, 0, 1)]), element("AnimationCurveNode", 600, "", "")]
    ends = (1, SHAPE, SKIN, 400, 401, 501, 600)
    links = [("OO", one, other) for one in ends for other in ends if one != 1]
    character = build.read(file(objects, links))
    assert [len(skin.shapes) for skin in character.skins] == [1]


@pytest.mark.parametrize("form", [build.binary, build.text])
def test_elements_inside_each_other_without_end_are_refused(form):
    inner = element("P", 1.0)
    for _ in range(100):
        inner = element("Deep", inside=[inner])
    deep = element("Model", 1, "Model::A", "Mesh", inside=[element("Properties70", inside=[inner])])
    if form is build.text:
        with pytest.raises(km.FileError, match="inside 65 elements; at most 64 are allowed"):
            build.read([element("Objects", inside=[deep])], form=form)
        return
    assert build.read([element("Objects", inside=[deep])], form=form).skeleton.names == ("A",)  # Never looked at.


def test_arrays_that_inflate_to_gigabytes_are_refused():
    tree = file([model(1, "A", "Mesh"), build.square()], [("OO", SHAPE, 1)])
    tree[2][2][1][2][0][1][0] = [0.0] * 3_000_000
    data = build.binary(tree, deflate=True)
    assert len(data) < 100_000
    before = data.index(b"Vertices") + len(b"Vertices") + 1
    bomb = data[:before] + (600_000_000).to_bytes(4, "little") + data[before + 4 :]
    with pytest.raises(km.FileError, match="needs 600,000,000 numbers; together more than"):
        build.decode(bomb, "bomb.fbx", None, 0)
