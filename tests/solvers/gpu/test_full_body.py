"""Full bodies on a GPU, in numba's simulator: solved as those of a batch on the CPU."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.errors import DeviceError, InputError
from kinema.model.pose import LocalTransforms
from kinema.stages.device.device_view import DeviceView
from tests.simulator import SIMULATED, device, run_in_simulator  # noqa: F401  # device is a fixture.

pytest.importorskip("numba_cuda")

if not SIMULATED:

    @pytest.mark.slow_uncompiled
    def test_in_the_simulator():
        run_in_simulator(__file__)


COUNT = 2
SAME = 1e-5  # Metres, and numbers of rotations: the solver works in float64 on both sides.
PERSON = humanoid()
REST = PERSON.skeleton.rest


def goals(body, *names, seed=1, size=0.1):
    """(COUNT, 3) for each name: points near where these joints are at rest."""
    draw, at = np.random.default_rng(seed), PERSON.skeleton.rest_world[:, :3, 3]
    return {name: (at[body.joint(name)] + draw.uniform(-size, size, (COUNT, 3))).astype(np.float32) for name in names}


def effectors(side, points, **pinned):
    """One for each name, and a pinned foot. side: moves arrays to where they are to be."""
    return [km.Effector("right_foot", pin=True), *(km.Effector(name, side(at)) for name, at in points.items())]


def check_same(found, expected):
    for part, array in zip(found, expected.arrays(), strict=True):
        np.testing.assert_allclose(part.copy_to_host(), array, rtol=0, atol=SAME)


def check_reports(found, expected, without=()):
    for name, wanted in zip(expected._fields, expected, strict=True):
        if name in without:
            continue
        tolerance = 1e-5 if np.asarray(wanted).dtype.kind == "f" else 0
        there = getattr(found, name).copy_to_host()
        np.testing.assert_allclose(there, wanted, rtol=0, atol=tolerance, err_msg=name)


if SIMULATED:

    def test_bodies_reach_as_on_the_cpu_and_follow_from_frame_to_frame(device):
        body = km.FullBody(PERSON)
        points = goals(body, "left_hand", "right_hand", size=0.05)
        pose, report = body.solve(REST.astype(np.float32), effectors(np.asarray, points))
        found, there = body.solve(REST, effectors(device, points))
        assert report.reached.all()
        check_same(found, pose)
        check_reports(there, report)
        moved = {name: at + np.float32(0.02) for name, at in points.items()}
        warm, report = body.solve(REST.astype(np.float32), effectors(np.asarray, moved), warm=pose)
        found, there = body.solve(REST, effectors(device, moved), warm=found)
        check_same(found, warm)
        check_reports(there, report)

    @pytest.mark.slow_simulated
    def test_poses_transforms_and_rotations_of_their_own(device):
        body = km.FullBody(PERSON)
        draw = np.random.default_rng(2)
        poses = km.Pose.of(*(np.repeat(part[np.newaxis], COUNT, axis=0).astype(np.float32) for part in REST.arrays()))
        poses.translations[:, 1] += draw.uniform(-0.1, 0.1, (COUNT, 3)).astype(np.float32)
        transform = np.repeat(np.eye(4, dtype=np.float32)[np.newaxis, :3], COUNT, axis=0)
        transform[:, :, 3] = draw.uniform(-2.0, 2.0, (COUNT, 3))
        at = goals(body, "left_hand")["left_hand"] + transform[:, :, 3]
        q = draw.normal(size=(COUNT, 4)).astype(np.float32)
        q = np.float32([0.0, 0.0, 0.0, 6.0]) + q
        q /= np.linalg.norm(q, axis=-1, keepdims=True)

        def wanted(side):
            return [km.Effector("left_hand", side(at), side(q), weight=0.8), km.Effector("hips", pin=True)]

        expected, report = body.solve(poses, wanted(np.asarray), transform=transform.reshape(COUNT, 12))
        on_device = LocalTransforms(*(DeviceView(device(part)) for part in poses.arrays()))  # As `frame.pose` is.
        found, there = body.solve(on_device, wanted(device), transform=device(transform))
        check_same(found, expected)
        check_reports(there, report)

    @pytest.mark.slow_simulated
    def test_targets_out_of_reach_are_searched_for_from_other_poses(device):
        """Of one priority, without pins: the CPU does nothing more either.

        Of the joints that are held back, it reports those of its last start, whichever start it returns.
        """
        body = km.FullBody(PERSON, attempts=2, max_steps=4)
        points = goals(body, "left_hand", "right_hand", size=2.0)

        def wanted(side):
            return [km.Effector(name, side(at)) for name, at in points.items()]

        expected, report = body.solve(REST.astype(np.float32), wanted(np.asarray))
        found, there = body.solve(REST, wanted(device))
        assert not report.reached.any()
        check_same(found, expected)
        check_reports(there, report, without=("limited", "limited_joints"))

    @pytest.mark.slow_simulated
    def test_what_cannot_be_is_refused_by_name(device):
        body = km.FullBody(PERSON)
        points = goals(body, "left_hand")["left_hand"]
        bad = points.copy()
        bad[1, 2] = np.nan
        zero = np.zeros((COUNT, 4), np.float32)
        for wanted, kind, message in (
            ([km.Effector("left_hand", device(bad))], InputError, r"effectors\[0\].position\[1, 2\] is nan"),
            ([km.Effector("left_hand", rotation=device(zero))], InputError, "a rotation of an effector is zero"),
            ([km.Effector("left_hand", device(points), weight=device(points[:, 0]))], DeviceError, "weight must be on"),
            ([km.Effector("left_hand", device(points), weight=[0.5, 1.0])], DeviceError, "only position, rotation"),
            (
                [km.Effector("left_hand", device(points)), km.Effector("head", device(points[[0, 1, 1]]))],
                InputError,
                "position is for 2 characters; allowed on a GPU are 3",
            ),
        ):
            with pytest.raises(kind, match=message):
                body.solve(REST, wanted)
