"""Pictures: what is drawn is where the joints are, in the colours of its sides, the same every time."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, quadruped, spider, stairs
from kinema.errors import InputError
from kinema.render.body import DrawnBones, drawn_joints
from kinema.render.camera import VIEWS, DrawingSpace, PictureCamera
from kinema.render.drawing import film, poses_that_fit, still, strip
from kinema.render.look import THEMES, Look

SIZE = (160, 120)


@pytest.fixture(scope="module")
def person():
    return humanoid()


def changed(character, look, **options):
    """(height, width): where a body is seen: what changes when it has another colour. Shadows have no colour."""
    images = []
    for shift in (0.0, 0.3):
        theme = THEMES[look.theme]
        images.append(_painted(character, look, theme, shift, **options))
    return (images[0] != images[1]).any(axis=-1)


def _painted(character, look, theme, shift, time=0.0, clip=None):
    names = ("left", "right", "middle")
    THEMES["test"] = theme._replace(**{name: np.clip(getattr(theme, name) - shift, 0, 1) for name in names})
    try:
        return still(character, clip, time, replace(look, theme="test"))
    finally:
        del THEMES["test"]


def test_blend_shapes_are_drawn(person):
    skin = person.skins[0]
    everything = np.arange(len(skin.vertices))
    wide = km.BlendShape("wide", everything, skin.vertices * (0.5, 0.0, 0.0))
    red = np.tile((1.0, 0.0, 0.0), (len(skin.vertices), 1))
    shaped = replace(person, skins=[replace(skin, shapes=[wide], colours=red)])
    clip = km.Clip("swell", person.skeleton, [], shapes=[km.ShapeTrack("wide", (0, 1), (0, 1))])
    look = Look(show="skin", view="front", size=SIZE)
    pictures = [still(shaped, clip, time, look).astype(int) for time in (0.0, 0.5, 1.0)]
    thin, half, fat = ((picture[..., 0] > 2 * picture[..., 2]).any(axis=0).sum() for picture in pictures)
    assert thin < half < fat


@pytest.mark.parametrize("view", [*VIEWS, (200.0, 35.0), (-20.0, -15.0)])
def test_bones_are_drawn_where_they_project(person, view):
    """Joints, and the middles of bones, are inside what is drawn, and nothing is drawn far from them."""
    clip = person.clips["walk"]
    look = Look(view=view, size=SIZE, ground=km.Plane((0, -50, 0)))
    body = changed(person, look, clip=clip, time=0.3)
    joints = drawn_joints(person)
    at = person.skeleton.world(clip.sample(0.3))[joints, :3, 3].astype(float)
    stage = DrawingSpace.of(person, at)
    at = stage.points(at)
    camera = PictureCamera.fitted(np.concatenate((at - 0.03, at + 0.03)), look.angles("front"), SIZE)
    bones = DrawnBones.of(person, THEMES["light"])
    middles = np.array([(at[i] + at[p]) / 2 for i, p in enumerate(bones.parents) if p >= 0])
    x, y, _ = camera.project(np.concatenate((at, middles))).T
    assert body[y.astype(int), x.astype(int)].mean() > 0.97
    seen = np.argwhere(body)[:, ::-1] + 0.5
    away = np.linalg.norm(seen[:, np.newaxis] - np.stack((x, y), axis=-1), axis=-1).min(axis=1)
    assert away.max() < 0.12 * camera.scale


@pytest.mark.parametrize("make", [humanoid, quadruped, spider])
def test_left_limbs_are_on_the_left(make):
    """From behind, the character's left is ours."""
    character, theme = make(), THEMES["light"]
    image = still(character, None, 0.0, Look(view="back", size=SIZE)) / 255.0
    warm, cold = image[..., 0] - image[..., 2] > 0.2, image[..., 2] - image[..., 0] > 0.2
    assert theme.left[0] > theme.left[2]
    assert theme.right[0] < theme.right[2]
    assert warm.sum() > 30
    assert cold.sum() > 30
    assert np.argwhere(warm)[:, 1].mean() < np.argwhere(cold)[:, 1].mean() - 10


@pytest.mark.parametrize("show", ["bones", "skin", "both"])
@pytest.mark.parametrize("theme", list(THEMES))
def test_a_picture_is_the_same_every_time(person, show, theme):
    look = Look(size=SIZE, show=show, theme=theme)
    first, second = (still(person, person.clips["walk"], 0.4, look) for _ in range(2))
    assert first.shape == (120, 160, 3)
    assert first.dtype == np.uint8
    np.testing.assert_array_equal(first, second)
    edge = np.concatenate((first[0], first[:, 0], first[:, -1]))
    assert np.abs(edge / 255.0 - THEMES[theme].background).max() < 0.15  # Nothing is cut off.
    assert (np.abs(first / 255.0 - THEMES[theme].background) > 0.2).any()


def test_units_and_axes_make_no_difference():
    """The same creature in centimetres, lying in a file whose up is Z."""
    plain = quadruped()
    rotation = np.array((np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)))  # Y to Z, Z to -Y
    rest = plain.skeleton.rest
    t, r = rest.translations.astype(float) * 100, rest.rotations.astype(float).copy()
    from kinema.math import arrays

    roots = plain.skeleton.parents < 0
    t[roots], r[roots] = arrays.rotate(rotation, t[roots]), arrays.mul(rotation, r[roots])
    skeleton = km.Skeleton(plain.skeleton.names, plain.skeleton.parents, km.Pose(t, r))
    rig = replace(
        plain.rig,
        skeleton=skeleton,
        legs=[replace(leg, sole=None, toe_sole=None, heel=None, tip=None) for leg in plain.rig.legs],
        up=(0, 0, 1),
        forward=(0, -1, 0),
        floor=plain.rig.floor * 100,
    )
    look = Look(size=SIZE, view=(30.0, 20.0))
    pictures = [still(km.Character(each.skeleton, rig=each), None, 0.0, look).astype(int) for each in (plain.rig, rig)]
    # The grid has other cells: compare what is far from its colours.
    figure = [np.ptp(image, axis=-1) > 60 for image in pictures]
    assert figure[0].sum() > 200
    assert (figure[0] ^ figure[1]).sum() <= 0.01 * figure[0].sum()


def test_a_body_in_the_ground_is_hidden_there(person):
    look = Look(size=SIZE, view=(90.0, 40.0))
    walking = {"clip": person.clips["walk"], "time": 0.2}
    standing = changed(person, look, **walking)
    sunk = changed(person, replace(look, ground=km.Plane((0.0, 0.7, 0.0))), **walking)
    top, bottom = slice(0, SIZE[1] // 3), slice(2 * SIZE[1] // 3, None)
    assert standing[bottom].sum() > 40
    assert not sunk[bottom].any()
    np.testing.assert_array_equal(sunk[top], standing[top])


@pytest.mark.parametrize("ground", [stairs(), km.HeightField(np.zeros((4, 4)), (-3.0, -3.0), (2.0, 2.0))])
def test_any_ground_can_be_stood_on(person, ground):
    image = still(person, person.clips["walk"], 0.0, Look(size=SIZE, ground=ground))
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 50


# --- strips and films --------------------------------------------------------------------------------------------


def test_poses_of_a_strip_stand_side_by_side(person):
    """A clip that stays in place: as many separate figures as poses."""
    image = strip(person, person.clips["idle"], (0.0, 1.0), 3, Look(view="front"))
    figures = np.ptp(image.astype(int), axis=-1) > 60
    columns = figures[: int(0.6 * len(figures))].any(axis=0)
    gaps = np.diff(np.flatnonzero(columns))
    assert image.shape[1] == 960
    assert (gaps > 8).sum() == 2


def test_a_strip_of_a_clip_that_travels_goes_along_its_way():
    character = quadruped()
    one, many = (
        strip(character, character.clips["walk"], (0.0, 1.0), count, Look(size=(300, 100))) for count in (1, 6)
    )
    assert (np.ptp(many.astype(int), axis=-1) > 60).any(axis=0).sum() > (np.ptp(one.astype(int), axis=-1) > 60).any(
        axis=0
    ).sum()


@pytest.mark.parametrize(("lengths", "fit"), [(0.0, 1), (0.4, 1), (0.7, 2), (1.6, 4), (9.0, 5)])
def test_poses_on_a_ground_are_as_many_as_its_way_has_half_lengths(lengths, fit):
    character = quadruped()
    length = np.ptp(character.skeleton.rest_world[:, 2, 3])
    start = character.skeleton.rest.translations[0]
    track = km.Track(0, "translation", [0.0, 1.0], [start, start + (0.0, 0.0, lengths * length)])
    clip = km.Clip("slides", character.skeleton, [track])
    assert poses_that_fit(character, clip, (0.0, 1.0), 5, Look(ground=km.Plane((0.0, 0.0, 0.0)))) == fit
    assert poses_that_fit(character, clip, (0.0, 1.0), 5, Look()) == 5


def test_frames_of_a_film_share_their_ground(person):
    frames = list(film(person, person.clips["walk"], (0.0, 0.5), 10, Look(size=SIZE)))
    assert len(frames) == 5
    moving = (np.ptp(np.array(frames), axis=0) > 0).any(axis=-1)
    assert 0.01 < moving.mean() < 0.5
    assert not moving[:, [0, -1]].any()


# --- odd characters ----------------------------------------------------------------------------------------------


def skeleton_of(parents, translations):
    count = len(parents)
    rest = km.Pose(np.array(translations, float), np.tile((0.0, 0, 0, 1), (count, 1)))
    return km.Skeleton([f"j{i}" for i in range(count)], parents, rest)


@pytest.mark.parametrize(
    "character",
    [
        km.Character(skeleton_of([-1], [(0, 0, 0)])),
        km.Character(skeleton_of([-1, 0], [(5, 5, 5), (0, 0, 0)])),
        km.Character(skeleton_of([-1, 0, 1], [(0, 0, 0), (0, 1e-6, 0), (0, 1e-6, 0)])),
        km.Character(skeleton_of([-1, 0, 0], [(1e6, 0, 0), (1e5, 0, 0), (0, 1e5, 0)])),
        km.Character(skeleton_of([-1, -1], [(0, 0, 0), (3, 0, 0)])),
    ],
    ids=["one joint", "no size", "tiny", "far", "two roots"],
)
def test_any_finite_input_is_drawn(character):
    assert still(character, None, 0.0, Look(size=(40, 30))).shape == (30, 40, 3)


def test_without_a_rig_nothing_runs_from_the_origin_to_the_body():
    """root, pelvis, and two legs with an end each: the root is left out."""
    skeleton = skeleton_of([-1, 0, 1, 1, 2, 3], [(0, 0, 0), (0, 1, 0), (1, 0, 0), (-1, 0, 0), (0, -1, 0), (0, -1, 0)])
    np.testing.assert_array_equal(drawn_joints(km.Character(skeleton)), [1, 2, 3, 4, 5])


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"theme": "pink"}, "light"),
        ({"view": "below"}, "three-quarter"),
        ({"view": (10.0, 95.0)}, "90"),
        ({"size": (0, 10)}, "size"),
        ({"size": (100_000, 100_000)}, "size"),
    ],
)
def test_looks_that_do_not_exist_are_refused(options, says):
    with pytest.raises(InputError, match=says):
        Look(**options)


def test_what_cannot_be_drawn_is_refused(person):
    bare = km.Character(person.skeleton)
    with pytest.raises(InputError, match="no skin"):
        still(bare, None, 0.0, Look(show="skin"))
    with pytest.raises(InputError, match="show"):
        still(bare, None, 0.0, Look(show="muscles"))
    with pytest.raises(InputError, match="poses"):
        strip(person, person.clips["walk"], (0.0, 1.0), 1000, Look())
    with pytest.raises(InputError, match="frames"):
        film(person, person.clips["walk"], (0.0, 1.0), 1e6, Look())
