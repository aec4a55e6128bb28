"""Curves between and outside their keys."""

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io.fbx.curves import read_curve, read_old_curve
from kinema.io.fbx.document import parse
from tests.io.fbx import build
from tests.io.fbx.build import TICKS, curve, element, file

CONSTANT, NEXT, LINEAR, CUBIC, AUTO, TCB, USER = 2, 0x100, 4, 8, 0x100, 0x200, 0x400
BY_TIME, CLAMPED, WEIGHTED = 0x2000, 0x4000, 0x3000000


def read(*given, form=build.binary, **more):
    (found,) = parse(form(file([curve(1, *given, **more)], [])), "a.fbx").each("AnimationCurve")
    return read_curve(found)


def values(curve, *seconds):
    return curve.at(np.array(seconds, np.float64) * TICKS)


def hermite(u, a, b, slope_a, slope_b, dt):
    return (
        (2 * u**3 - 3 * u**2 + 1) * a
        + (u**3 - 2 * u**2 + u) * slope_a * dt
        + (3 * u**2 - 2 * u**3) * b
        + (u**3 - u**2) * slope_b * dt
    )


@pytest.mark.parametrize("form", [build.binary, build.text])
def test_linear(form):
    np.testing.assert_allclose(values(read((0, 2), (1, 5), form=form), 0, 0.5, 2), (1, 2, 5))


@pytest.mark.parametrize(("flags", "found"), [(CONSTANT, (1, 1, 5)), (CONSTANT | NEXT, (1, 5, 5))])
def test_constant(flags, found):
    assert values(read((0, 2), (1, 5), flags=[flags]), 0, 1.9, 2).tolist() == list(found)


@pytest.mark.parametrize("form", [build.binary, build.text])
def test_given_slopes_are_a_hermite_spline(form):
    made = read((0, 2), (1, 5), flags=[CUBIC | USER] * 2, data=[(3, -2, 0, 0), (0, 0, 0, 0)], form=form)
    u = np.linspace(0, 1, 9)
    np.testing.assert_allclose(values(made, *(u * 2)), hermite(u, 1, 5, 3, -2, 2), atol=1e-12)


def test_weights_bend_time():
    """A point of the Bezier curve of time and value lies on the curve."""
    weights = (2500, 7500)
    packed = np.array([weights[0] | weights[1] << 16], np.int32).view(np.float32)[0]
    made = read((0, 2), (1, 5), flags=[CUBIC | USER | WEIGHTED, CUBIC | USER], data=[(3, -2, packed, 0), (0, 0, 0, 0)])
    w = np.array(weights) / 9999
    u = np.linspace(0, 1, 9)
    times = 2 * (3 * (1 - u) ** 2 * u * w[0] + 3 * (1 - u) * u**2 * (1 - w[1]) + u**3)
    pulled = 1, 1 + 3 * 2 * w[0], 5 + 2 * 2 * w[1], 5
    expected = sum(
        c * v for c, v in zip(((1 - u) ** 3, 3 * (1 - u) ** 2 * u, 3 * (1 - u) * u**2, u**3), pulled, strict=True)
    )
    np.testing.assert_allclose(values(made, *times), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("flags", "bias", "slopes"),
    [
        (AUTO, 0, (1, 1.75, 1.75, 2.5)),
        (0, 0, (1, 1.75, 1.75, 2.5)),
        (AUTO, 50, (1, 1.75, 2.125, 2.5)),
        (AUTO | BY_TIME, 50, (1, 2, 2, 2.5)),
        (AUTO | CLAMPED, 0, (0, 1.75, 1.75, 0)),
        (AUTO | BY_TIME | CLAMPED, 0, (0, 2, 2, 0)),
    ],
)
def test_auto_slopes_come_from_the_neighbours(flags, bias, slopes):
    data = [(0, 0, 0, 0), (bias, 0, 0, 0), (0, 0, 0, 0)]
    made = read((0, 1, 3), (0, 1, 6), flags=[CUBIC | flags] * 3, data=data)
    one, other, third, fourth = slopes
    np.testing.assert_allclose(
        values(made, 0.5, 2), (hermite(0.5, 0, 1, one, other, 1), hermite(0.5, 1, 6, third, fourth, 2))
    )


def test_numbers_of_keys_may_be_written_as_they_are():
    """As whole numbers a text has the bits of floats."""
    plain = read((0, 2), (1, 5), flags=[CUBIC | USER] * 2, data=[(3, -2, 0, 0), (0, 0, 0, 0)], form=build.text)
    tree = curve(1, (0, 2), (1, 5), flags=[CUBIC | USER] * 2)
    next(each for each in tree[2] if each[0] == "KeyAttrDataFloat")[1] = [[3.0, -2, 4.1e-31, 0, 0, 0, 4.1e-31, 0]]
    (found,) = parse(build.text(file([tree], [])), "a.fbx").each("AnimationCurve")
    assert values(read_curve(found), 0.7) == values(plain, 0.7)


def test_clamped_slopes_do_not_overshoot():
    times, keys = (0, 1, 2, 3, 4), (0, 1, 1.01, 5, 4)
    made = read(times, keys, flags=[CUBIC | AUTO | CLAMPED] * 5)
    found = values(made, *np.linspace(0, 3, 301))
    assert (np.diff(found) >= -1e-12).all()
    assert values(made, *np.linspace(3, 4, 50)).max() <= 5 + 1e-12
    assert values(read(times, keys, flags=[CUBIC | AUTO] * 5), *np.linspace(3, 4, 50)).max() > 5.1


def test_neutral_tension_continuity_and_bias_are_auto_slopes():
    plain = read((0, 1, 2), (0, 1, 6), flags=[CUBIC | AUTO] * 3)
    tcb = read((0, 1, 2), (0, 1, 6), flags=[CUBIC | TCB] * 3)
    tight = read((0, 1, 2), (0, 1, 6), flags=[CUBIC | TCB] * 3, data=[(1, 0, 0, 0)] * 3)
    np.testing.assert_allclose(values(tcb, 0.3, 1.7), values(plain, 0.3, 1.7))
    np.testing.assert_allclose(values(tight, 0.5), hermite(0.5, 0, 1, 0, 0, 1))


@pytest.mark.parametrize(
    ("kind", "found"),
    [("C", (1, 5)), ("R", (4, 2)), ("M", (2, 4)), ("K", (0, 6)), ("A", (0, 6)), ("?", (1, 5))],
)
def test_outside_the_keys(kind, found):
    np.testing.assert_allclose(values(read((0, 4), (1, 5), Pre=kind, Post=kind), -1, 5), found)


@pytest.mark.parametrize(
    ("kind", "times", "found"),
    [
        *(("R", 0, (5, 5, 5)), ("R", 1, (2, 5, 5)), ("R", 2, (2, 3, 5)), ("R", -1, (2, 3, 2))),
        *(("M", 1, (4, 1, 1)), ("M", 2, (4, 3, 5)), ("A", 1, (6, 9, 9)), ("K", 1, (6, 11, 18))),
    ],
)
def test_repetitions_end(kind, times, found):
    tree = curve(1, (0, 4), (1, 5), Post=kind)
    tree[2][-1][2].append(element("Repetition", times))
    (made,) = parse(build.text(file([tree], [])), "a.fbx").each("AnimationCurve")
    np.testing.assert_allclose(values(read_curve(made), 5, 10, 17), found)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("flags", [AUTO, AUTO | BY_TIME | CLAMPED, TCB, USER])
@pytest.mark.parametrize("wild", [np.inf, -np.inf, np.nan, 3e38])
def test_wild_tangents_stay_finite(flags, wild):
    made = read(
        (0, 1, 3), (1e99, -1e99, 1e99), flags=[CUBIC | flags] * 3, data=[(wild, wild, wild, wild)] * 3, Post="A"
    )
    assert np.isfinite(values(made, -1, 0, 0.5, 1, 2, 9)).all()


def test_keys_in_any_order_and_twice():
    made = read((2, 0, 1, 1), (3, 1, 2, 9))
    np.testing.assert_allclose(values(made, 0.5, 1.5), (1.5, 6))
    assert np.isfinite(values(made, 0, 1, 2)).all()


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ({"times": (0, 1), "values": (1,)}, "has 2 times and 1 values"),
        ({"times": (0, 1), "values": (1, 2), "flags": [4, 4, 4]}, "has 2 keys, and attributes of 3 for 3 runs"),
        ({"times": (0, 1), "values": (1, 2), "data": [(0, 0)]}, "has 2 numbers for 1 attributes"),
        ({"times": (0, 1), "values": (1, 1e200)}, "not finite"),
    ],
)
def test_damage_is_named(objects, message):
    with pytest.raises(FileError, match=message):
        read(**objects)


def old(*keys, form=build.binary):
    channel = element("Channel", "X", inside=[element("Key", *keys)])
    return read_old_curve(parse(form([element("FBXVersion", 6100), channel], 6100), "a.fbx").root.at("Channel"))


@pytest.mark.parametrize("form", [build.binary, build.text])
def test_keys_of_old_files(form):
    keys = (0, 1.0, "U", "s", 3.0, -2.0, "n", 2 * TICKS, 5.0, "L", 3 * TICKS, 7.0, "C", "n", 4 * TICKS, 8.0, "C", "s")
    made = old(*keys, form=form)
    np.testing.assert_allclose(values(made, 1, 2.5, 3.5), (hermite(0.5, 1, 5, 3, -2, 2), 6, 8))
    weighted = old(0, 1.0, "U", "b", 0.0, 0.0, "a", 0.9, 0.9, TICKS, 5.0, "U", "a", "n", form=form)
    np.testing.assert_allclose(weighted.weights[0], (0.9, 0.9))
    assert values(weighted, 0.25) < 1.2  # 1.6 without weights.


def test_auto_slopes_of_old_files_are_clamped():
    auto = ("U", "a", "n")
    made = old(0, 0.0, *auto, TICKS, 1.0, *auto, 3 * TICKS, 6.0, *auto)
    np.testing.assert_allclose(values(made, 0.5, 2), (hermite(0.5, 0, 1, 0, 2, 1), hermite(0.5, 1, 6, 2, 0, 2)))


def test_old_keys_without_letters_are_refused():
    with pytest.raises(FileError, match="has no key"):
        old(0, 1.0, 2, 3.0)
