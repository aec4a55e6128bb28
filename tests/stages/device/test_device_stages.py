"""Stages besides clips, feet and heads on a GPU, in numba's simulator, beside those of a crowd on the CPU."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.errors import InputError
from kinema.model.pose import LocalTransforms, Pose
from tests.simulator import SIMULATED, device, run_in_simulator  # noqa: F401  # device is a fixture.
from tests.stages.device.crowds import COUNT, DT, check_reports, check_same, crowds

pytest.importorskip("numba_cuda")

if not SIMULATED:

    @pytest.mark.slow_uncompiled
    def test_in_the_simulator():
        run_in_simulator(__file__)


POINTS = np.float32([[3.0, 1.0, 9.0], [-4.0, 2.0, 6.0], [0.3, 0.5, -7.0]])


def nodding(angle):
    """A function of a layer, for either side: it rotates joint 5 about x by an angle times the time."""

    def nod(pose, time, dt):
        on_device = isinstance(pose, LocalTransforms)
        r = pose.r.copy_to_host() if on_device else pose.rotations.copy()
        seconds = time.copy_to_host() if on_device else time
        half = 0.5 * angle * (1.0 + seconds)
        r[:, 5] = np.stack((np.sin(half), 0 * half, 0 * half, np.cos(half)), axis=-1)
        if on_device:
            from numba import cuda

            return LocalTransforms(pose.t, cuda.to_device(r), pose.s)
        return Pose.of(pose.translations, r, pose.scales)

    return nod


if SIMULATED:

    def test_eyes_and_aims_follow_targets_and_let_them_go(device):
        both = crowds(
            km.Play("walk", root_motion="extract"), km.Aim(joint="hand_r", grip="left"), km.Head(), km.Eyes(seed=3)
        )
        for n in range(5):
            for animator in both:
                if n == 0:
                    animator.look_at(POINTS)
                    animator["aim"].aim_at(POINTS[::-1])
                if n == 2:
                    animator["aim"].release(rows=[1])
                    animator["eyes"].look_ahead(rows=[0])
                    animator.set_weight("aim", (1.0, 0.5, 0.0))
                    animator.set_weight("eyes", (1.0, 0.5, 0.0))
                if n == 3:
                    animator["eyes"].look_at((0.0, 1.0, 4.0))
            frame, other = (animator.update(3 * DT) for animator in both)
            check_same(frame, other)
        check_reports(frame, other)

    @pytest.mark.slow_simulated
    def test_an_aim_without_a_second_hand(device):
        both = crowds(km.Aim(joint="hand_r", max_angle=0.2))
        for animator in both:
            animator["aim"].aim_at(POINTS)
        for _ in range(3):
            frame, other = (animator.update(DT) for animator in both)
            check_same(frame, other)
        check_reports(frame, other)

    def test_breaths_and_kicks(device):
        both = crowds(km.Breathing(depth=3.0, seed=2), km.Recoil())
        for n in range(4):
            for animator, side in zip(both, (np.asarray, device), strict=True):
                if n == 1:
                    animator["recoil"].kick(0.7)
                    animator["recoil"].kick(side(np.float64([0.5, 0.3])), rows=[0, 2])
                if n == 2:
                    animator.set_weight("breathing", (0.3, 0.0, 1.0))
            frame, other = (animator.update(2 * DT) for animator in both)
            check_same(frame, other)
        check_reports(frame, other)
        assert frame.reports["recoil"].kick.min() > 0.1
        both[1]["recoil"].kick(device(np.full(COUNT, np.nan)))
        assert both[1].unusable == COUNT

    def test_a_function_gets_poses_on_the_device_and_returns_others(device):
        both = crowds(km.Play("walk"), km.Layer(nodding(0.8), phase=(0.0, 0.4, 0.8)))
        for n in range(3):
            for animator in both:
                if n == 1:
                    animator.set_weight("layer", (0.4, 1.0, 0.0))
            frame, other = (animator.update(DT, rows=None if n < 2 else [2, 1]) for animator in both)
            check_same(frame, other)
        check_reports(frame, other)

    @pytest.mark.slow_simulated
    def test_what_a_function_returns_is_checked(device):
        def wrong(pose, time, dt):
            return answers.pop()

        _, animator = crowds(km.Layer(wrong))
        rest = humanoid().skeleton.rest
        t, r, s = (np.repeat(part[np.newaxis], COUNT, axis=0).astype(np.float32) for part in rest.arrays())
        r[1, 3], t[2, 0, 0] = 0.0, np.nan
        answers = [(device(t), device(r), device(s)), (device(t), device(r[:2]), device(s)), device(t)]
        for message in ("must return translations, rotations and scales", r"rotations must be float32 \(3, "):
            with pytest.raises(InputError, match=message):
                animator.update(DT)
        assert np.isfinite(animator.update(DT).palette.copy_to_host()).all()
        assert animator.unusable == 2

    @pytest.mark.slow_simulated
    def test_stages_fade_out_with_the_distance_from_the_viewer(device):
        stages = km.Breathing(depth=9.0, max_distance=4.0, phase=0.5), km.Head(max_distance=5.0)
        both = crowds(*stages, viewer=(1.0, 0.0, 0.0))
        for viewer in ((1.0, 0.0, 0.0), (3.0, 0.0, -1.0), None):
            for animator, side in zip(both, (np.asarray, device), strict=True):
                animator.viewer = None if viewer is None else side(np.float32(viewer))
                animator.look_at(POINTS)
            frame, other = (animator.update(DT) for animator in both)
            check_same(frame, other)
        weights = both[0]._slots[0].weights
        assert (weights == 1.0).all()  # Without a viewer nobody is too far.

    def test_far_characters_are_updated_every_third_frame(device):
        """Each with the seconds since its last update: then it is where it would be."""
        both = crowds(km.Play("walk", root_motion="extract"), km.Breathing(), km.Head())
        whole = crowds(km.Play("walk", root_motion="extract"), km.Breathing(), km.Head())[0]
        near, far = np.array([1]), np.array([0, 2])
        for animator in (*both, whole):
            animator.look_at(POINTS)
        for n in range(3):
            expected = whole.update(DT)
            for animator, side in zip(both, (np.asarray, device), strict=True):
                frame = animator.update(DT, rows=side(near))
                if n == 2:
                    frame = animator.update(3 * DT, rows=side(far))
                animator.newest = frame
        check_same(both[0].newest, both[1].newest)
        np.testing.assert_allclose(
            both[1].newest.reports["play"].time.copy_to_host(), expected.reports["play"].time, atol=1e-9
        )
        np.testing.assert_allclose(both[1].newest.transform.copy_to_host(), expected.transform[:, :3], atol=1e-5)

    @pytest.mark.slow_simulated
    def test_a_crowd_in_two_parts_moves_as_the_whole(device):
        """Ids and phases go with the characters."""
        phases, ids = np.float64([0.1, 0.5, 0.9]), np.arange(COUNT)

        def crowd(part):
            stages = [km.Play("walk", time=0.2 * part), km.Breathing(phase=phases[part]), km.Eyes()]
            animator = km.Animator(humanoid(), stages, count=part.size, device="cuda")
            animator["eyes"].ids[:] = part
            animator.set_transform(POINTS[part])
            animator["eyes"].look_at(POINTS[part] + np.float32((0.5, 1.0, 5.0)))
            for _ in range(3):
                frame = animator.update(3 * DT)
            return frame.palette.copy_to_host()

        np.testing.assert_array_equal(np.concatenate([crowd(part) for part in np.split(ids, [2])]), crowd(ids))
