"""What holds for every scene of the playground, whatever it shows."""

import json

import numpy as np
import pytest

from kinema.demo.scenes.registry import SCENES, scene
from kinema.demo.scenes.scene import Button, Choice, Download, Slider, Switch, clamped_position
from kinema.errors import InputError
from kinema.playground.protocol import layout_of
from tests.demo.scripts import run

TICK = 1 / 60


def played(name, seed=0, ticks=20):
    one = scene(name, seed)
    for _ in range(ticks):
        one.step(TICK)
    return one


def untimed(frame):
    """What of a frame is the same in every run: not the times that calls took."""
    return {name: np.asarray(array) for name, array in frame.items() if name not in ("micros", "solve_ms")}


@pytest.mark.parametrize("name", SCENES)
def test_the_same_seed_plays_the_same(name):
    one, other = untimed(played(name).frame()), untimed(played(name).frame())
    assert one.keys() == other.keys()
    for key in one:
        assert np.array_equal(one[key], other[key]), key


@pytest.mark.parametrize("name", SCENES)
def test_everything_shown_is_finite_and_serialisable_to_json(name):
    one = played(name)
    for array in one.frame().values():
        assert np.isfinite(np.asarray(array, float)).all()
    json.dumps([one.panel(), one.description(), one.introduction(), layout_of(one.frame())], allow_nan=False)
    status = one.status()
    assert status.error >= 0
    assert 0 <= status.reached <= status.total


@pytest.mark.parametrize("name", SCENES)
def test_every_control_takes_its_ends_and_refuses_what_is_beyond(name):
    one = scene(name)
    for control in one.controls:
        before = dict(one.values)
        for wrong in ([1], "no such choice", float("nan"), 1e30):
            if isinstance(control, Button | Download):
                continue
            with pytest.raises(InputError, match=control.name):
                one.set(control.name, wrong)
            assert one.values == before
        match control:
            case Slider():
                values = (control.low, control.high, control.value)
            case Switch():
                values = (True, False, control.value)
            case Choice():
                values = (*control.options, control.value)
            case _:
                values = (None,)
        for value in values:
            revision = one.revision
            one.set(control.name, value)
            assert one.revision > revision
            one.step(TICK)
            assert all(np.isfinite(np.asarray(array, float)).all() for array in one.frame().values())


@pytest.mark.parametrize("name", SCENES)
def test_a_control_that_does_not_exist_is_refused(name):
    with pytest.raises(InputError, match="no control"):
        scene(name).set("gravitas", 1)


@pytest.mark.parametrize("name", SCENES)
def test_unknown_handles_and_keys_are_ignored(name):
    one = scene(name)
    shown = one.frame().keys()
    one.drag("no such handle", (0.0, 0.0, 0.0))
    one.drag("999999", (0.0, 0.0, 0.0))
    one.drop("no such handle")
    one.key("F13", (0.0, 0.0, 0.0))
    one.step(TICK)
    assert one.frame().keys() == shown
    assert all(np.isfinite(np.asarray(array)).all() for array in one.frame().values())


@pytest.mark.parametrize("name", SCENES)
def test_its_script_runs_and_imports_only_what_is_public(name):
    text = played(name).python()
    assert run(text)
    imports = {line for line in text.splitlines() if "import" in line and "kinema" in line}
    assert imports <= {"import kinema as km", "from kinema import demo", "from kinema.physics import step"}


@pytest.mark.parametrize("name", SCENES)
def test_being_still_is_still_without_a_person(name):
    one = scene(name)
    one.be_still()
    for _ in range(120):
        one.step(TICK)
    before = untimed(one.frame())
    one.step(TICK)
    what = {"character": "world", "creature": "world", "crowd": "palettes"}.get(name, "joints")
    joints = np.asarray(one.frame()[what]).astype(float)
    assert np.abs(joints - before[what]).max() < 1e-3 * np.abs(joints).max()


def shown(one):
    """(..., 3 or 2): positions of what follows handles; of the lab only the solvers that solve in one call."""
    frame = one.frame()
    if one.name == "character":
        return np.array(frame["world"][:, 3::4])
    if one.name == "creature":
        return np.array(frame["tentacles"])
    if one.name == "crowd":
        return np.array(one.people.joints)
    return np.array(frame["joints"][:2] if one.name == "lab" else frame["joints"])


@pytest.mark.parametrize("name", SCENES)
def test_settling_without_input_changes_next_to_nothing(name, request):
    if name == "character":
        reason = "a foot that swings goes on to its landing while time stands still"
        request.applymarker(pytest.mark.xfail(reason=reason))
    one = played(name)
    before = shown(one)
    for _ in range(10):
        one.settle(TICK)
    assert np.abs(shown(one) - before).max() < 0.01 * np.abs(before).max()


# Handle, its offset from where it is, and the largest error that is left, in the scene's unit.
PAUSED_DRAGS = {
    "planar": ("0", (30.0, -20.0), 1e-2),
    "arm": ("target", (0.2, 0.1, 0.1), 2e-2),
    "character": ("hand left", (0.0, 0.2, 0.1), 5e-3),
    "creature": ("tentacles", (0.1, -0.1, 0.0), 1e-2),
    "crowd": ("target", (0.3, 0.0, 0.0), 1.0),
    "lab": ("target", (0.1, -0.2, 0.1), 0.1),
}


def inside(bounds, position):
    """The nearest position within a handle's bounds, as the page computes it."""
    if "low" in bounds:
        return np.clip(position, bounds["low"], bounds["high"])
    away = np.subtract(position, bounds["centre"])
    return bounds["centre"] + away * min(1.0, bounds["radius"] / np.linalg.norm(away))


@pytest.mark.parametrize("name", [name for name in SCENES if name != "planar"])
def test_a_drag_far_away_ends_where_the_bounds_end(name):
    """What the page shows during a drag is what the scene makes of it: nothing jumps on release."""
    handle, key = PAUSED_DRAGS[name][0], {"arm": "goal", "creature": "tentacle_target", "character": "handles"}
    ends = []
    for moved in (lambda bounds, position: position, inside):
        one = scene(name)
        one.be_still()
        bounds = one.description()["bounds"]
        one.drag(handle, [float(x) for x in moved(bounds.get(handle, bounds.get("*")), (70.0, -50.0, 90.0))])
        one.settle(TICK)
        ends.append(np.array(one.frame()[key.get(name, handle)]))
    assert np.allclose(*ends, atol=1e-5)


@pytest.mark.parametrize("name", SCENES)
def test_a_handle_dragged_while_time_stands_still_is_followed(name):
    one = scene(name)
    one.be_still()
    one.step(TICK)
    before, frame, (handle, offset, error) = shown(one), one.frame(), PAUSED_DRAGS[name]
    if name == "character":
        names = [handle["name"] for handle in one.description()["handles"]]
        start = frame["handles"][names.index(handle)] - frame["origin"]
    else:
        start = np.reshape(
            frame[{"planar": "targets", "arm": "goal", "creature": "tentacle_target"}.get(name, handle)],
            (-1, len(offset)),
        )[0]
    one.drag(handle, (start + offset).tolist())
    for _ in range(45):
        one.settle(TICK)
    assert one.status().error < error
    assert np.abs(shown(one) - before).max() > 0.05


def another(control, value):
    """Another value that a control can have; None if there is none."""
    match control:
        case Slider(low=low, high=high):
            return low if value != low else high if high != low else None
        case Switch():
            return not value
        case Choice(options=options):
            return next((option for option in options if option != value), None)
    return None


@pytest.mark.parametrize("name", SCENES)
def test_every_control_can_be_undone(name):
    one = scene(name)
    one.be_still()
    one.paused = True
    for control in one.controls:
        value = another(control, one.values[control.name])
        if value is None or control.name in one.unsaved:
            continue
        before = one.snapshot()
        one.set(control.name, value)
        after = one.snapshot()
        assert after != before, control.name
        one.restore(before)
        assert one.snapshot() == before, control.name
        one.restore(after)
        assert one.snapshot() == after, control.name
        one.restore(before)


@pytest.mark.parametrize("name", SCENES)
def test_a_snapshot_goes_through_json_and_brings_everything_back(name):
    one = scene(name)
    one.be_still()
    if name == "arm":
        one.set("by_hand", True)
    handle, offset, _ = PAUSED_DRAGS[name]
    one.drag(handle, [0.3 + x for x in offset])
    for control in one.controls:
        if isinstance(control, Slider):
            one.set(control.name, control.high if control.name in ("length_1", "speed", "limit") else control.value)
    state = json.loads(json.dumps(one.snapshot(), allow_nan=False))
    fresh = scene(name)
    fresh.restore(state)
    assert fresh.snapshot() == state
    fresh.step(TICK)
    assert all(np.isfinite(np.asarray(array, float)).all() for array in fresh.frame().values())


@pytest.mark.parametrize("name", SCENES)
def test_what_moves_by_itself_goes_through_json_and_goes_on_from_there(name):
    one = played(name, ticks=40)
    state = json.loads(json.dumps(one.kept(), allow_nan=False))
    other = scene(name)
    other.restore(state)
    expected, found = one.motion(), other.motion()
    assert found.keys() == expected.keys()
    for part, value in expected.items():
        assert value is None or np.allclose(found[part], value, atol=0.02), part
    other.step(TICK)
    assert all(np.isfinite(np.asarray(array, float)).all() for array in other.frame().values())


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("wrong", [{"time": "late"}, {"at": [float("nan"), 0.0]}, {"balls": 3}, 7])
def test_motion_that_is_none_is_refused(name, wrong):
    with pytest.raises(InputError):
        scene(name).restore(scene(name).snapshot() | {"motion": wrong})


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize(
    "wrong", [None, 7, "state", {}, {"values": 3}, {"values": {"no such": 1}}, {"values": {}, "own": {"target": "up"}}]
)
def test_a_snapshot_that_is_none_is_refused(name, wrong):
    with pytest.raises(InputError):
        scene(name).restore(wrong)


def test_a_scene_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="planar"):
        scene("juggling")


@pytest.mark.parametrize("wrong", [(), (1.0,), (float("nan"), 0.0), (float("inf"), 0.0), ("a", 0.0)])
def test_positions_are_checked(wrong):
    with pytest.raises(InputError, match="position"):
        clamped_position(wrong, 2, 100.0)


def test_far_positions_are_moved_nearer():
    assert clamped_position((1e9, -3.0), 2, 100.0).tolist() == [100.0, -3.0]
