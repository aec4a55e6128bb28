"""The context that stages work in: what changed is known, whatever a stage does."""

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.stages.stage import Crowd, FrameContext
from kinema.world.rays import Hits
from tests.stages.bodies import person

COUNT = 3


@pytest.fixture
def context():
    context = FrameContext(Crowd(person(), COUNT, np.float64))
    context.begin(np.arange(COUNT), 1 / 60)
    return context


def expected(context):
    """(N, J, 12): world matrices of the pose as it stands, from the public skeleton."""
    world = context.crowd.skeleton.world(context.pose())
    place = np.tile(np.eye(4), (COUNT, 1, 1, 1))
    place[:, :, :3] = context.transform.reshape(COUNT, 1, 3, 4)
    return (place @ world)[:, :, :3].reshape(COUNT, -1, 12)


def rotate(context, joint, angle):
    with context.edit([joint]) as local:
        local.r[:, context.crowd.skeleton.index(joint)] = (np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2))


def test_matrices_are_up_to_date_after_an_edit(context):
    for angle in (0.3, -0.7):
        rotate(context, "hips", angle)
        rotate(context, "neck", angle)
        np.testing.assert_allclose(context.world(), expected(context), atol=1e-12)


def test_matrices_of_some_joints_and_all_above_them_are_up_to_date(context):
    context.world()
    rotate(context, "hips", 0.4)
    skeleton = context.crowd.skeleton
    above = skeleton.above(["head"])
    np.testing.assert_allclose(context.world(["head"])[:, above], expected(context)[:, above], atol=1e-12)


@pytest.mark.parametrize("joints", [["head", "hips"], (0, 3), np.array([0, 3]), [], None])
def test_joints_are_given_by_name_or_index_in_any_collection(context, joints):
    every = np.arange(len(context.crowd.skeleton))
    above = every if joints is None else context.crowd.skeleton.above(joints)
    np.testing.assert_allclose(context.world(joints)[:, above], expected(context)[:, above], atol=1e-12)


def test_an_unknown_joint_is_named(context):
    with pytest.raises(InputError, match="there is no joint 'tentacle'"):
        context.edit(["tentacle"])


def test_an_edit_that_fails_half_way_still_marks_its_joints(context):
    context.world()

    def fail():
        with context.edit(["hips"]) as local:
            local.t[:, 0] += 1.0
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    np.testing.assert_allclose(context.world(), expected(context), atol=1e-12)


def test_an_edit_that_changed_nothing_keeps_the_matrices(context):
    context.world()[:] = 7.0
    with context.edit() as local:
        local.unchanged()
    assert (context.world() == 7.0).all()


def test_a_rigid_shift_moves_what_is_up_to_date(context):
    context.world()
    shifts = np.arange(9.0).reshape(COUNT, 3)
    with context.edit_transform() as edit:
        edit.transform[:, 0, 3::4] += shifts
        edit.shifted(shifts)
    np.testing.assert_allclose(context.world(), expected(context), atol=1e-12)


def test_a_rigid_shift_of_stale_joints_computes_them_anew(context):
    context.world()
    rotate(context, "neck", 0.5)
    shifts = np.ones((COUNT, 3))
    with context.edit([0]) as local:
        local.t[:, 0] += shifts
        local.shifted(shifts)
    np.testing.assert_allclose(context.world(), expected(context), atol=1e-12)


def test_moving_characters_makes_every_matrix_stale(context):
    context.world()
    with context.edit_transform() as edit:
        edit.transform[:, 0, 3] = 5.0
    np.testing.assert_allclose(context.world(["head"])[:, 0], expected(context)[:, 0], atol=1e-12)


@pytest.mark.parametrize("name", ["t", "r", "s", "transform"])
def test_outside_an_edit_transforms_cannot_be_written(context, name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(context, name)[0] = 0.0


class Answers:
    """A ground that answers every cast with the same hits."""

    def __init__(self, **changed):
        self.hits = Hits(np.ones(4, bool), np.ones((4, 3)), np.ones((4, 3)), np.ones(4))._replace(**changed)

    def cast(self, origins, directions, max_distance):
        return self.hits


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["point", "normal", "distance"])
def test_a_hit_that_is_not_finite_is_a_miss(context, field, bad):
    broken = np.array(getattr(Answers().hits, field))
    broken[2] = bad
    context.ground = Answers(**{field: broken})
    hits = context.cast(np.zeros((4, 3)), np.ones((4, 3)), 1.0)
    assert hits.hit.tolist() == [True, True, False, True]
    assert all(np.isfinite(part).all() for part in hits)
    assert np.isnan(broken[2]).all() or np.isinf(broken[2]).all()  # The ground's own array is as it was.


def test_rows_are_indices_or_a_mask(context):
    crowd = context.crowd
    assert crowd.select(None).tolist() == [0, 1, 2]
    assert crowd.select([2, 0]).tolist() == [2, 0]
    assert crowd.select([True, False, True]).tolist() == [0, 2]
    assert crowd.select(1).tolist() == [1]
    assert crowd.select([]).tolist() == []


@pytest.mark.parametrize("rows", [[3], [-1], [0, 0], [0.5], [True], [[0]], "first"])
def test_rows_that_are_no_characters_are_refused(context, rows):
    with pytest.raises(InputError, match="rows"):
        context.crowd.select(rows)


def test_a_loop_runs_over_the_rows_of_the_stage(context):
    seen = []
    context.rows = np.array([0, 2])
    assert context.run(lambda rows, x: seen.extend(rows.tolist()) or x, 5) == 5
    assert seen == [0, 2]


# --- from stage to stage ---------------------------------------------------------------------------------------------


def test_a_published_value_is_found_by_its_type_until_the_next_frame(context):
    assert context.published(Hits) is None
    hits = Hits(*np.zeros((4, 1)))
    context.publish(hits)
    context.publish("something else")
    assert context.published(Hits) is hits
    context.begin(np.arange(COUNT), 1 / 60)
    assert context.published(Hits) is None
