"""`Walker2D`: judged by the positions that it returns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km

HZ = 60
THIGH, SHIN = 0.5, 0.4


def hills(x):
    return 0.12 * np.sin(1.3 * x) + 0.05 * np.sin(3.7 * x + 1.0)


def stairs(x):
    return 0.15 * np.clip(np.floor((x - 2.0) / 0.4), 0, 6)


def walk(walker, xs, ys=None, hz=HZ, **options):
    """Frames of a walker that is at each x in turn."""
    return [walker.update(1 / hz, x, None if ys is None else ys[k], **options) for k, x in enumerate(xs)]


def at_speed(speed, seconds, start=0.0, hz=HZ):
    return start + speed * np.arange(round(seconds * hz)) / hz


def a_walker(ground=hills, **options):
    return km.Walker2D(ground, thigh=THIGH, shin=SHIN, **options)


def together(frames, name):
    return np.array([getattr(frame, name) for frame in frames])


def walks_on(ground):
    return walk(a_walker(ground), np.concatenate((at_speed(1.3, 5.0), at_speed(4.0, 2.0, 6.5), np.full(2 * HZ, 14.5))))


GROUNDS = {"flat": lambda x: 0.0 * x, "hills": hills, "stairs": stairs}


@pytest.fixture(scope="module", params=GROUNDS)
def course(request):
    """A walk, a run and a stop on a ground."""
    ground = GROUNDS[request.param]
    return ground, walks_on(ground)


def test_bones_keep_their_lengths(course):
    _, frames = course
    hips, knees, ankles = (together(frames, name) for name in ("hips", "knees", "ankles"))
    np.testing.assert_allclose(np.linalg.norm(knees - hips, axis=-1), THIGH, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(ankles - knees, axis=-1), SHIN, rtol=1e-9)


def test_planted_feet_do_not_move_at_all(course):
    _, frames = course
    feet, planted = together(frames, "feet"), together(frames, "planted")
    still = planted[1:] & planted[:-1]
    assert still.sum() > 200
    np.testing.assert_array_equal(feet[1:][still], feet[:-1][still])


def test_planted_feet_are_on_the_ground_and_reached(course):
    ground, frames = course
    feet, planted = together(frames, "feet"), together(frames, "planted")
    np.testing.assert_array_equal(feet[planted][:, 1], ground(feet[planted][:, 0]))
    assert together(frames, "reached")[planted].all()


def test_swinging_feet_stay_above_the_ground(course):
    ground, frames = course
    feet = together(frames, "feet")[together(frames, "reached")]
    assert (feet[:, 1] - ground(feet[:, 0])).min() > -1e-12


def test_feet_move_without_jumps(course):
    _, frames = course
    steps = np.linalg.norm(np.diff(together(frames, "feet"), axis=0), axis=-1)
    fastest = np.abs(np.diff(together(frames, "body")[:, 0])).max()
    assert steps.max() < 4.0 * fastest


def test_hips_move_without_jumps(course):
    _, frames = course
    assert np.abs(np.diff(together(frames, "body")[:, 1])).max() < 0.06


def test_who_stops_stands_on_all_feet(course):
    _, frames = course
    assert frames[-1].planted.all()
    assert (np.abs(frames[-1].feet[:, 0] - frames[-1].hips[:, 0]) < 0.2).all()


def test_one_foot_stands_in_a_walk_and_both_are_in_the_air_at_times_in_a_run():
    walks = together(walk(a_walker(0.0), at_speed(1.3, 6.0))[2 * HZ :], "planted")
    runs = together(walk(a_walker(0.0), at_speed(4.5, 4.0))[2 * HZ :], "planted")
    assert walks.any(axis=-1).all()
    assert walks.all(axis=-1).any()
    assert (~runs.any(axis=-1)).mean() > 0.1


def test_steps_of_a_walk_are_as_long_as_those_of_people():
    """People walk at 1.4 m/s with steps of 0.7 m."""
    frames = walk(km.Walker2D(0.0), at_speed(1.4, 8.0))
    planted, feet = together(frames, "planted"), together(frames, "feet")
    lands = np.flatnonzero(planted[1:, 0] & ~planted[:-1, 0]) + 1
    strides = np.diff(feet[lands, 0, 0])[1:]
    np.testing.assert_allclose(strides, 1.4, atol=0.15)


def test_both_legs_walk_alike():
    frames = walk(a_walker(0.0), at_speed(1.3, 8.0))
    planted = together(frames, "planted")[2 * HZ :]
    assert abs(planted[:, 0].mean() - planted[:, 1].mean()) < 0.03


def test_a_walk_to_the_left_mirrors_one_to_the_right():
    right = walk(a_walker(lambda x: hills(np.abs(x))), at_speed(1.3, 4.0))
    mirrored = km.Walker2D(lambda x: hills(np.abs(x)), thigh=THIGH, shin=SHIN)
    mirrored.update(0.0, 0.0)
    left = walk(mirrored, -at_speed(1.3, 4.0))
    flipped = together(left, "knees") * (-1.0, 1.0)
    np.testing.assert_allclose(
        flipped[HZ:].mean(axis=0)[:, 0], together(right, "knees")[HZ:].mean(axis=0)[:, 0], atol=0.1
    )
    assert (together(left, "facing")[HZ:] == -1).all()


def test_knees_bend_forwards_or_backwards():
    for knee in (1, -1):
        frames = walk(a_walker(0.0, knee=knee), at_speed(1.3, 2.0))
        middle = 0.5 * (together(frames, "hips") + together(frames, "ankles"))
        assert (knee * (together(frames, "knees") - middle)[..., 0].mean()) > 0.05


def test_screens_show_the_same_walk_upside_down():
    up = walk(a_walker(hills), at_speed(1.3, 3.0))
    down = walk(a_walker(lambda x: -hills(x), y_down=True), at_speed(1.3, 3.0))
    for name in ("hips", "knees", "ankles", "feet", "body", "head"):
        np.testing.assert_array_equal(together(down, name) * (1.0, -1.0), together(up, name))


def test_a_batch_equals_its_singles():
    starts = np.array((0.0, 3.0, -7.5))
    speeds = np.array((0.4, -1.4, 5.0))
    many = walk(a_walker(count=3), [starts + speeds * k / HZ for k in range(4 * HZ)])
    for n in range(3):
        one = walk(a_walker(), [starts[n] + speeds[n] * k / HZ for k in range(4 * HZ)])
        for name in ("knees", "feet", "planted", "body", "head", "lean", "facing"):
            np.testing.assert_array_equal(together(many, name)[:, n], together(one, name))


def test_the_walk_does_not_depend_on_the_frame_rate():
    slow, quick = (walk(a_walker(0.0), at_speed(1.3, 5.0, hz=hz), hz=hz) for hz in (30, 120))
    np.testing.assert_allclose(
        together(slow, "planted").mean(axis=0), together(quick, "planted").mean(axis=0), atol=0.04
    )
    np.testing.assert_allclose(
        together(slow, "body")[60:, 1].mean(), together(quick, "body")[240:, 1].mean(), atol=0.01
    )


def test_no_foot_stands_in_a_gap():
    gap = [(-5.0, 0.0), (1.99, 0.0), (2.0, -50.0), (2.4, -50.0), (2.41, 0.0), (9.0, 0.0)]
    frames = walk(a_walker(gap), at_speed(1.3, 4.0))
    feet = together(frames, "feet")[together(frames, "planted")]
    assert not ((feet[:, 0] > 1.97) & (feet[:, 0] < 2.43)).any()
    assert feet[:, 0].max() > 3.0


def test_feet_step_over_what_lies_in_their_way():
    box = [(-5.0, 0.0), (1.999, 0.0), (2.0, 0.2), (2.15, 0.2), (2.151, 0.0), (9.0, 0.0)]
    frames = walk(a_walker(box), at_speed(1.0, 5.0))
    feet = together(frames, "feet").reshape(-1, 2)
    over = (feet[:, 0] > 2.0) & (feet[:, 0] < 2.15)
    assert feet[over, 1].min() >= 0.2


def test_a_platform_above_is_no_ground():
    """Rows of tiles: a ceiling, air and a floor."""
    solid = np.zeros((6, 40), bool)
    solid[0], solid[5] = True, True
    frames = walk(
        km.Walker2D(km.Tiles2D(solid, 1.0), thigh=THIGH, shin=SHIN, y_down=True),
        at_speed(1.3, 3.0, 5.0),
        np.full(3 * HZ, 5.0),
    )
    feet = together(frames, "feet")[together(frames, "planted")]
    np.testing.assert_array_equal(feet[:, 1], 5.0)


def test_feet_hang_in_a_jump_and_stand_after_it():
    time = np.arange(HZ) / HZ
    jump = np.maximum(4.0 * time - 5.0 * time**2, 0.0)
    walker = a_walker(0.0)
    walk(walker, np.zeros(10))
    frames = walk(walker, at_speed(1.0, 1.0), jump)
    after = walk(walker, np.full(HZ, 1.0), np.zeros(HZ))
    high = jump > 0.4
    assert not together(frames, "planted")[high].any()
    assert together(frames, "airborne")[high].all()
    assert (together(frames, "feet")[high][..., 1] > 0.1).all()
    assert after[-1].planted.all()


def test_heads_look_at_a_target_and_no_farther_than_they_can():
    frame = walk(a_walker(0.0), np.zeros(2 * HZ), look_at=(3.0, 3.0))[-1]
    way = np.array((3.0, 3.0)) - frame.head
    assert frame.head_angle == pytest.approx(np.arctan2(way[1], way[0]), abs=1e-6)
    above = walk(a_walker(0.0), np.zeros(2 * HZ), look_at=(0.01, 9.0))[-1]
    assert above.head_angle == pytest.approx(0.9)


def test_who_is_set_elsewhere_stands_there_at_once():
    walker = a_walker(hills)
    walk(walker, at_speed(1.3, 2.0))
    frame = walker.update(1 / HZ, 500.0)
    assert frame.planted.all()
    assert (np.abs(frame.feet[:, 0] - 500.0) < 0.2).all()


def test_sprites_point_along_the_limbs():
    frame = walk(a_walker(lambda x: -hills(x), y_down=True), at_speed(1.3, 1.0))[-1]
    thigh = frame.sprites()["thigh"]
    radians = -np.radians(thigh.angle)
    tips = thigh.position + THIGH * np.stack((np.cos(radians), np.sin(radians)), axis=-1)
    np.testing.assert_allclose(tips, frame.knees, atol=1e-9)
    assert set(frame.sprites()) == {"thigh", "shin", "foot", "torso", "head"}


def test_insects_have_as_many_legs_as_they_like():
    frames = walk(a_walker(hills, legs=6), at_speed(0.8, 3.0))
    assert frames[-1].knees.shape == (6, 2)
    assert together(frames, "planted").any(axis=-1).all()


wild = st.one_of(st.sampled_from([0.0, 1e-9, -1e-9, 1e12, -1e12, 0.3, 3.0]), st.floats(-100.0, 100.0))
gaps = st.sampled_from(
    [
        0.0,
        lambda x: np.full(np.shape(x), np.nan),
        lambda x: np.where(np.floor(x) % 2 == 0, 0.0, np.nan),
        lambda x: 1e6 * np.sign(np.sin(x)),
        [(0.0, 0.0), (0.0, 5.0), (1.0, 5.0)],
        hills,
    ]
)


@given(
    st.lists(st.tuples(wild, st.one_of(st.none(), wild), st.sampled_from([0.0, 1e-6, 1 / 60, 10.0])), max_size=12),
    gaps,
    st.sampled_from([(1e-9, 1.0), (0.45, 0.45), (1e9, 1e-9)]),
)
def test_finite_input_gives_finite_poses(moves, ground, bones):
    walker = km.Walker2D(ground, thigh=bones[0], shin=bones[1])
    for x, y, dt in moves:
        frame = walker.update(dt, x, y, look_at=(x, 0.0))
        for name in ("hips", "knees", "ankles", "feet", "foot_angles", "body", "head", "head_angle", "lean", "speed"):
            assert np.isfinite(getattr(frame, name)).all()
        reach = np.linalg.norm(frame.knees - frame.hips, axis=-1)
        assert (np.abs(reach - bones[0]) <= 1e-9 * (sum(bones) + np.abs(frame.hips).max())).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"thigh": 0.0}, "thigh is 0.0"),
        ({"legs": 0}, "legs must be a whole number"),
        ({"knee": 0}, r"knee is 0; allowed are \+1 and -1"),
        ({"knee": np.array([1, 1])}, r"knee is array"),
        ({"count": 10**9}, "count is 1000000000; allowed are"),
        ({"hips": (0.0,)}, r"hips has shape \(1,\); it must hold one number for each of 2 legs"),
        ({"pace": np.nan}, "pace is nan"),
        ({"count": 0}, "count"),
    ],
)
def test_wrong_settings_are_refused(options, said):
    with pytest.raises(km.InputError, match=said):
        km.Walker2D(**options)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"x": np.nan}, "x is nan"),
        ({"x": (1.0, 2.0)}, r"x has shape \(2,\); it must be one number"),
        ({"x": 0.0, "y": np.inf}, "y is inf"),
        ({"x": 0.0, "look_at": (1.0,)}, "look_at"),
    ],
)
def test_wrong_positions_are_refused_and_change_nothing(arguments, said):
    walker, other = a_walker(), a_walker()
    for each in (walker, other):
        walk(each, at_speed(1.3, 0.5))
    with pytest.raises(km.InputError, match=said):
        walker.update(1 / HZ, **arguments)
    np.testing.assert_array_equal(walker.update(1 / HZ, 0.7).knees, other.update(1 / HZ, 0.7).knees)


def test_a_ground_that_fails_changes_nothing():
    fails = []

    def ground(x):
        if fails and x.ndim == 3:
            raise OSError("the level is gone")
        return hills(x)

    walker, other = a_walker(ground), a_walker()
    for each in (walker, other):
        walk(each, at_speed(1.3, 0.5))
    fails.append(True)
    with pytest.raises(OSError, match="the level is gone"):
        walker.update(1 / HZ, 0.66)
    fails.clear()
    np.testing.assert_array_equal(walker.update(1 / HZ, 0.7).knees, other.update(1 / HZ, 0.7).knees)


def notices(caplog, text):
    return [record.message for record in caplog.records if text in record.message]


@pytest.mark.parametrize("arguments", [(16.7, 100.0), (100.0, 1 / 60)], ids=["milliseconds", "x first"])
def test_seconds_that_are_none_are_warned_of_once(arguments, caplog):
    walker = a_walker()
    for _ in range(5):
        walker.update(*arguments)
    assert len(notices(caplog, "takes seconds first")) == 1


@pytest.mark.parametrize("rise", [0.9, 3.0, -2.0], ids=["wall", "cliff", "ledge"])
def test_legs_hang_where_the_ground_is_out_of_reach(rise):
    frame = walk(a_walker([(0, 0), (4, 0), (4, rise), (9, rise)]), at_speed(1.3, 3.5, 2.0))[-1]
    assert frame.airborne
    assert frame.reached.all()
    assert frame.body[1] - frame.feet[:, 1].max() > 0.8 * (THIGH + SHIN)


def test_a_walker_behind_a_wall_of_its_ground_walks_on_the_way_back():
    there = at_speed(1.3, 3.5, 2.0)
    frames = walk(
        a_walker([(0, 0), (4, 0), (4, 0.9), (9, 0.9)]), np.concatenate((there, there[::-1], np.full(HZ, 2.0)))
    )
    assert not frames[-1].airborne
    assert frames[-1].planted.all()


def test_a_body_in_a_wall_is_warned_of_once_and_one_at_a_ledge_is_not(caplog):
    for rise in (-2.0, 0.9):
        walk(a_walker([(0, 0), (4, 0), (4, rise), (9, rise)]), at_speed(1.3, 3.5, 2.0))
    assert len(notices(caplog, "in a wall")) == 1


def test_a_walker_created_where_no_ground_is_hangs_at_zero():
    frame = a_walker([(0, 3), (4, 3)]).update(1 / HZ, 9.0)
    assert frame.airborne
    np.testing.assert_array_equal(frame.feet[:, 1], 0.0)
