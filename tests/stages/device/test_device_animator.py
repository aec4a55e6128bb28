"""Crowds on a GPU, in numba's simulator: characters move as those of a crowd on the CPU do."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.errors import DeviceError, InputError
from tests.simulator import SIMULATED, device, run_in_simulator  # noqa: F401  # device is a fixture.
from tests.stages.device.crowds import COUNT, DT, SAME, check_reports, check_same, crowds, ground

pytest.importorskip("numba_cuda")

if not SIMULATED:

    @pytest.mark.slow_uncompiled
    def test_in_the_simulator():
        run_in_simulator(__file__)


if SIMULATED:

    def test_a_walk_over_hills_with_looks_and_crossfades(device):
        """Clips from different times with root motion, feet, heads, a crossfade of all and one of some, fading feet."""
        both = crowds(km.Play("walk", root_motion="extract"), km.Feet(), km.Head(), on=ground())
        for animator in both:
            animator["play"].play("walk", fade=0.0, time=np.array([0.1, 0.45, 0.8]))
            animator.look_at(np.array([[3.0, 1.0, 9.0], [-4.0, 2.0, 6.0], [0.0, 0.5, -7.0]]))
        for n in range(9):
            for animator in both:
                if n == 2:
                    animator.set_weight("feet", (0.4, 1.0, 0.0), fade=0.05)
                if n == 4:
                    animator["play"].play("run", fade=0.15)
                    animator.look_at(None, rows=[1])
                if n == 6:
                    animator["play"].play("idle", rows=[0, 2], time=(0.1, 0.3), fade=0.1)
                    animator.set_weight("feet", 1.0)
            frame, other = (animator.update(DT) for animator in both)
            check_same(frame, other)
        np.testing.assert_allclose(other.palette.copy_to_host(), frame.palette, rtol=0, atol=SAME)
        np.testing.assert_allclose(other.pose.r.copy_to_host(), frame.pose.rotations, rtol=0, atol=SAME)
        np.testing.assert_allclose(other.transform.copy_to_host(), frame.transform[:, :3], rtol=0, atol=SAME)
        check_reports(frame, other)

    @pytest.mark.slow_simulated
    def test_feet_and_heads_without_clips_on_a_slope(device):
        both = crowds(km.Feet(), km.Head(), on=km.Plane((0.0, 0.0, 0.0), (0.1, 1.0, 0.05)), count=2)
        for animator in both:
            animator.look_at((2.0, 1.0, 5.0))
        for _ in range(4):
            check_same(*(animator.update(DT) for animator in both))

    @pytest.mark.slow_simulated
    def test_feet_on_a_mesh(device):
        """Two slopes that meet in a ridge, and a hole beside them."""
        corners = [
            (-9.0, 0.0, -9.0),
            (9.0, 0.3, -9.0),
            (-9.0, 0.9, 0.5),
            (9.0, 0.6, 0.5),
            (-9.0, 0.1, 9.0),
            (9.0, 0.2, 9.0),
        ]
        faces = [(0, 2, 1), (1, 2, 3), (2, 4, 3), (3, 4, 5)]
        mesh = km.TriangleMesh(corners, faces, accelerator="kernel")
        both = crowds(km.Play("walk"), km.Feet(), on=mesh, count=2)
        for n in range(4):
            if n == 3:
                for animator in both:
                    animator.ground = km.TriangleMesh(np.zeros((0, 3)), np.zeros((0, 3), int))
            check_same(*(animator.update(DT) for animator in both))

    def test_only_some_characters_are_updated(device):
        both = crowds(km.Play("walk", root_motion="extract"), on=None)
        for rows in (None, [2], [0, 2], np.array([False, True, False])):
            check_same(*(animator.update(DT, rows=rows) for animator in both))
        frame = both[1].update(DT, rows=device(np.array([1, 0])))
        check_same(both[0].update(DT, rows=[1, 0]), frame)

    def test_everything_may_be_set_by_arrays_on_the_device(device):
        both = crowds(km.Play("walk"), km.Head())
        draw = np.random.default_rng(5)
        places, points = (draw.uniform(-3.0, 3.0, (COUNT, 3)).astype(np.float32) for _ in range(2))
        rotations = np.tile(np.float32((0.0, 0.6, 0.0, 0.8)), (COUNT, 1))
        times, weights = np.float32((0.1, 0.2, 0.3)), np.float32((1.0, 0.5, 0.0))
        for animator, side in zip(both, (np.asarray, device), strict=True):
            animator.update(DT)
            animator.set_transform(side(places), side(rotations))
            animator.look_at(side(points))
            animator.set_weight("head", side(weights))
            animator["play"].play("walk", time=side(times), fade=0.0)
        check_same(*(animator.update(DT) for animator in both))
        both[1]["play"].load("run", "idle")
        both[1]["play"].play(device(np.array([1, 2, 0])), fade=0.0)
        for name, row in (("run", 0), ("idle", 1), ("walk", 2)):
            both[0]["play"].play(name, rows=[row], fade=0.0)
        check_same(*(animator.update(DT) for animator in both))

    def test_numbers_that_cannot_be_used_leave_a_character_as_it_is(device):
        _, animator = crowds(km.Play("walk"), km.Feet(), km.Head(), on=ground())
        animator.look_at((1.0, 1.0, 5.0))
        before = animator.update(0.0).transform.copy_to_host()
        bad = np.tile(np.float32((np.nan, np.inf, 1e30)), (COUNT, 1))
        animator.set_transform(device(bad), device(np.zeros((COUNT, 4), np.float32)))
        animator.look_at(device(bad))
        animator["play"].play(device(np.array([7, -1, 99])))
        animator["play"].play("walk", time=device(bad[:, 0]))
        assert animator.unusable == 4 * COUNT
        frame = animator.update(0.0)
        np.testing.assert_array_equal(frame.transform.copy_to_host(), before)
        assert np.isfinite(frame.palette.copy_to_host()).all()

    @pytest.mark.slow_simulated
    def test_a_frame_is_over_with_the_next_one(device):
        _, animator = crowds(km.Play("walk"))
        frame = animator.update(DT)
        palette = frame.palette
        animator.update(DT)
        assert frame.palette is palette
        with pytest.raises(InputError, match="this frame is over"):
            _ = frame.world

    @pytest.mark.slow_simulated
    def test_the_last_tile_is_not_full(device):
        both = crowds(km.Play("walk", root_motion="extract"), count=35)
        check_same(*(animator.update(DT) for animator in both))

    @pytest.mark.slow_simulated
    @pytest.mark.parametrize(
        ("stages", "options", "message"),
        [
            (
                [km.Hands()],
                {},
                "Hands does not run on a GPU; allowed are Play, Layer, Breathing, Recoil, Feet, Aim, Head, Eyes",
            ),
            ([km.Sway()], {}, "Sway does not run on a GPU"),
            ([km.Head(), km.Head()], {}, r"stages\[1\] is a second Head"),
            ([km.Feet(levels=(km.FeetLevel(distance=5.0),))], {}, r"Feet\(levels=...\) is not available"),
            (
                [km.Feet()],
                {"ground": km.Sphere((0.0, 0.0, 0.0), 1.0)},
                "do not stand on Sphere; allowed are Plane, Hei",
            ),
            ([], {"max_ms": 1.0}, "max_ms is not available"),
            ([], {"trace": True}, "trace is not available"),
        ],
    )
    def test_what_is_not_there_is_refused_by_name(device, stages, options, message):
        with pytest.raises(DeviceError, match=message):
            km.Animator(humanoid(), stages, count=2, device="cuda", **({"ground": 0.0} | options))

    def test_bad_arguments_are_named(device):
        with pytest.raises(InputError, match="needs a count"):
            km.Animator(humanoid(), device="cuda")
        with pytest.raises(InputError, match="Feet needs a ground"):
            km.Animator(humanoid(), [km.Feet()], count=2, device="cuda")
        animator = km.Animator(humanoid(), [km.Play("walk")], count=2, device="cuda")
        for call, message in (
            (lambda: animator.look_at((0.0, 0.0, 0.0)), "look_at needs a Head or an Eyes stage"),
            (
                lambda: animator.set_transform(np.zeros((3, 3))),
                r"position must have shape \(3,\) or \(2, 3\), got \(3, 3\)",
            ),
            (lambda: animator.set_transform((0.0, np.nan, 0.0)), r"position\[1\] is nan"),
            (
                lambda: animator.set_transform(device(np.zeros((2, 3), np.int32))),
                "must be float32 or float64, got int32",
            ),
            (lambda: animator.update(-1.0), "dt is -1"),
            (lambda: animator.update(DT, rows=[0, 0]), "rows names a character twice"),
            (lambda: animator["feet"], "there is no stage 'feet'; there are 'play'"),
            (lambda: animator["play"].play([0, 5]), r"name has 0 to 5; there are 1 clips in `names`"),
        ):
            with pytest.raises(InputError, match=message):
                call()
        for refused in (
            lambda: animator.update(DT, pose=humanoid().skeleton.rest),
            lambda: animator.set_weight("play", 0.5),
        ):
            with pytest.raises(DeviceError):
                refused()
