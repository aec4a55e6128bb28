"""What goes over the wire: frames come out as they went in, and no message makes `parse` do anything but refuse."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo.scenes.scene import Status
from kinema.playground import protocol
from tests.playground.serving import Frame

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = (
    *("scene", "still", "number", "handle", "position", "key", "name", "value", "paused", "visible", "tick"),
    *("rotation", "turn", "ahead", "state", "purpose", "again", "picture"),
)


def test_a_frame_comes_out_as_it_went_in():
    arrays = {"joints": np.arange(12.0).reshape(2, 2, 3), "none": np.zeros((0, 2)), "one": np.array([0.5])}
    data = protocol.pack_frame(3, 70_000, 2**32 - 1, 0.25, 60.0, Status(1e300, 4, 5), 12.5, arrays)
    frame = Frame(data, protocol.layout_of(arrays))
    assert (frame.layout, frame.tick, frame.input, frame.reached, frame.count) == (3, 70_000, 2**32 - 1, 4, 5)
    assert (frame.solve_ms, frame.fps, frame.time) == (0.25, 60.0, 12.5)
    assert np.isfinite(frame.error)
    for name, array in arrays.items():
        assert np.array_equal(frame.arrays[name], array)
    assert protocol.tick_of(data) == 70_000


@given(st.text(max_size=200))
def test_any_text_is_refused_with_a_short_word(text):
    with pytest.raises(protocol.Malformed, match=r"^.{5,300}$"):
        protocol.parse(text)


@given(st.sampled_from(sorted(protocol._READERS)), st.dictionaries(st.sampled_from(FIELDS), ANY_JSON))
def test_any_fields_are_refused_or_understood(kind, fields):
    try:
        command = protocol.parse(json.dumps({"type": kind, **fields}))
    except protocol.Malformed:
        return
    for numbers in (getattr(command, name, ()) for name in ("position", "rotation")):
        assert all(isinstance(x, float) and np.isfinite(x) for x in numbers)
    if isinstance(command, protocol.Steer):
        assert abs(command.turn) <= 1
        assert abs(command.ahead) <= 1


def test_what_the_page_sends_is_understood():
    assert protocol.parse('{"type":"open","scene":"arm","still":false}') == protocol.Open("arm", False)
    assert protocol.parse('{"type":"drag","number":3,"handle":"0","position":[1,2.5]}') == protocol.Drag(
        3, "0", (1.0, 2.5)
    )
    assert protocol.parse('{"type":"set","number":4,"name":"bones","value":3}') == protocol.Set(4, "bones", 3)
    assert protocol.parse('{"type":"seen","tick":9}') == protocol.Seen(9)
    assert protocol.parse('{"type":"seen","tick":9,"picture":250}') == protocol.Seen(9, 250.0)
    assert protocol.parse('{"type":"drawn"}') == protocol.Drawn()
    grab = '{"type":"grab","number":1,"handle":"part 5","position":[0,0.5,1]}'
    assert protocol.parse(grab) == protocol.Grab(1, "part 5", (0.0, 0.5, 1.0))
    rotate = '{"type":"rotate","number":1,"handle":"head","rotation":[0,0,0,1]}'
    assert protocol.parse(rotate) == protocol.Rotate(1, "head", (0.0, 0.0, 0.0, 1.0))
    assert protocol.parse('{"type":"pin","number":2,"handle":"head"}') == protocol.Pin(2, "head")
    assert protocol.parse('{"type":"steer","number":2,"turn":-1,"ahead":0.5}') == protocol.Steer(2, -1.0, 0.5)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"rotate","number":1,"handle":"head","rotation":[0,0,1]}',
        '{"type":"rotate","number":1,"handle":"head","rotation":[0,0,0,true]}',
        '{"type":"rotate","number":1,"handle":"head","rotation":[0,0,0,1e400]}',
        '{"type":"steer","number":1,"turn":1.1,"ahead":0}',
        '{"type":"steer","number":1,"turn":null,"ahead":0}',
        '{"type":"pin","number":-1,"handle":"head"}',
        '{"type":"seen","tick":1,"picture":-1}',
        '{"type":"seen","tick":1,"picture":"slow"}',
        '{"type":"grab","number":1,"handle":5,"position":[0,0,0]}',
    ],
)
def test_broken_fields_are_refused(text):
    with pytest.raises(protocol.Malformed):
        protocol.parse(text)


@pytest.mark.parametrize("text", ["x" * 600_000, '{"type": "open", "scene": "' + "a" * 65 + '", "still": true}'])
def test_long_texts_are_refused(text):
    with pytest.raises(protocol.Malformed):
        protocol.parse(text)
