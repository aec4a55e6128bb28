"""JSON of detectors, written here the way each of them does."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests.io.points.build import read_or_refused

chance = np.random.default_rng(5)


def load(folder, tree, name="cam.json"):
    (folder / name).write_text(json.dumps(tree), encoding="utf-8")
    return km.load_points(folder / name)


def landmarks(points):
    return [dict(zip("xyz", map(float, point), strict=False), visibility=0.75) for point in points]


def flat(points, score=0.5):
    return [float(number) for point in points for number in (*point, score)]


FRAMES = chance.normal(size=(4, 33, 3))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda frames: frames,
        lambda frames: [{"landmarks": [[]], "worldLandmarks": [frame]} for frame in frames],
        lambda frames: [{"pose_world_landmarks": {"landmark": frame}} for frame in frames],
        lambda frames: {"fps": 24, "frames": [{"poseWorldLandmarks": frame} for frame in frames]},
        lambda frames: [{"timestamp": 3, "landmarks": frame} for frame in frames],
    ],
)
def test_mediapipe_in_the_forms_in_which_people_save_it(tmp_path, wrap):
    (take,) = load(tmp_path, wrap([landmarks(frame) for frame in FRAMES]))
    assert take.layout == "mediapipe33"
    np.testing.assert_array_equal(take.points, FRAMES)
    assert (take.confidence == 0.75).all()
    assert take.unit in (None, 1.0)


def test_frames_without_anybody_are_missing(tmp_path):
    (take,) = load(tmp_path, {"fps": 24, "frames": [landmarks(FRAMES[0]), None, [], landmarks(FRAMES[1])]})
    assert np.isnan(take.points[1:3]).all()
    assert take.fps == 24.0
    np.testing.assert_array_equal(take.points[[0, 3]], FRAMES[:2])


def openpose(*people):
    return {"version": 1.3, "people": [{"person_id": [-1], "pose_keypoints_2d": flat(person)} for person in people]}


BODY = chance.uniform(100, 400, size=(25, 2))


def test_openpose_a_file_per_frame_people_swap_places_in_it(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for i in range(6):
        people = [BODY + 3 * i, BODY + (900, 0)]
        tree = openpose(*(people if i % 2 else people[::-1]))
        (folder / f"cam_{i + 7:012d}_keypoints.json").write_text(json.dumps(tree))
    first, second = km.load_points(folder)
    assert first.layout == second.layout == "openpose25"
    moving, still = sorted((first, second), key=lambda take: take.points[0, 0, 0])
    np.testing.assert_allclose(still.points, np.tile(BODY + (900, 0), (6, 1, 1)))
    np.testing.assert_allclose(moving.points[:, 0], BODY[0] + 3 * np.arange(6)[:, None])


def test_openpose_points_without_confidence_are_missing(tmp_path):
    tree = openpose(BODY)
    tree["people"][0]["pose_keypoints_2d"][3:6] = [0, 0, 0]
    (take,) = load(tmp_path, tree)
    assert np.isnan(take.points[0, 1]).all()
    assert take.confidence[0, 1] == 0.0


def test_alphapose_by_image_and_person(tmp_path):
    bodies = chance.uniform(0, 500, size=(17, 2))
    tree = [
        {"image_id": f"{frame}.jpg", "category_id": 1, "keypoints": flat(bodies + who), "score": 2.5, "idx": who}
        for frame in (3, 4, 6)
        for who in (5, 2)
        if not (who == 2 and frame == 6)
    ]
    first, second = load(tmp_path, tree)
    assert first.layout == "coco17"
    assert first.points.shape == (4, 17, 2)
    assert np.isnan(first.points[2]).all()
    np.testing.assert_allclose(first.points[3], bodies + 5)
    np.testing.assert_allclose(second.points[0], bodies + 2)


def test_mmpose(tmp_path):
    body = chance.uniform(0, 500, size=(133, 2))
    instance = {"keypoints": body.tolist(), "keypoint_scores": [0.5] * 133, "bbox": [[0, 0, 1, 1]]}
    tree = {"meta_info": {}, "instance_info": [{"frame_id": i, "instances": [instance]} for i in (1, 2)]}
    (take,) = load(tmp_path, tree)
    assert (take.layout, take.points.shape) == ("coco-wholebody", (2, 133, 2))


def test_plain_lists_with_names(tmp_path):
    (take,) = load(tmp_path, {"names": ["a", "b"], "fps": 50, "points": [[[1, 2, 3], [4, 5, 6]]] * 3})
    assert (take.names, take.fps, take.points.shape) == (("a", "b"), 50.0, (3, 2, 3))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[{", "line 1: not JSON"),
        ("[" * 100_000, "not JSON that can be read"),
        ('{"landmarks":' * 900 + "[]" + "}" * 900, "."),
        ('{"frames":' * 900 + "[[1]]" + "}" * 900, "."),
        ("3", "."),
        ("[]", "no keypoints"),
        ("{}", "."),
        ('[[[1, 2], ["a", 2]]]', "frame 0: expected lists of numbers"),
        ('{"people": [{"pose_keypoints_2d": [1, 2]}]}', "multiple of 3"),
        ('[[{"x": 1, "y": 2}], [{"x": 1, "y": 2}, {"x": 1, "y": 2}]]', "frame 1: points have the shape"),
        ('[{"image_id": "1", "keypoints": [1, 2, 1]}, {"image_id": "99999999", "keypoints": [1, 2, 1]}]', None),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, problem):
    (tmp_path / "a.json").write_text(text)
    if problem is None:
        assert km.load_points(tmp_path / "a.json")[0].points.shape == (2, 1, 2)
        return
    with pytest.raises(km.FileError, match=problem):
        km.load_points(tmp_path / "a.json")


WORDS = [
    "people",
    "keypoints",
    "landmarks",
    "worldLandmarks",
    "x",
    "y",
    "image_id",
    "idx",
    "frames",
    "instances",
    "fps",
]
leaves = st.none() | st.booleans() | st.floats() | st.integers(-(10**25), 10**25) | st.sampled_from(WORDS)
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
)


@given(trees)
def test_no_tree_crashes(tmp_path_factory, tree):
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(tree))
    assert all(take.points.ndim == 3 for take in read_or_refused(path))


def test_a_crowd_is_refused_in_time(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"frames": [{"people": [{"keypoints": [1, 2, 3]}] * 300}] * 2}))
    with pytest.raises(km.FileError, match="frame 0: 300 people are in it; at most 200"):
        km.load_points(tmp_path / "a.json")
