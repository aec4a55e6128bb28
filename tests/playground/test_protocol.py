"""What goes over the wire: frames come out as they went in, and no message makes `parse` do anything but refuse."""

import inspect
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo.scenes.scene import Scene, SceneStatus
from kinema.playground import protocol
from tests.playground.serving import Frame

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = (
    *("scene", "still", "number", "handle", "position", "point", "key", "name", "value", "paused", "visible", "tick"),
    *("rotation", "turn", "ahead", "state", "purpose", "again", "picture"),
)


def test_a_frame_comes_out_as_it_went_in():
    arrays = {"joints": np.arange(12.0).reshape(2, 2, 3), "none": np.zeros((0, 2)), "one": np.array([0.5])}
    data = protocol.pack_frame(3, 70_000, 2**32 - 1, 0.25, 60.0, SceneStatus(1e300, 4, 5), 12.5, arrays)
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


@given(st.sampled_from(sorted(protocol.INPUTS | protocol.REQUESTS)), st.dictionaries(st.sampled_from(FIELDS), ANY_JSON))
def test_any_fields_are_refused_or_understood(kind, fields):
    try:
        command = protocol.parse(json.dumps({"type": kind, **fields}))
    except protocol.Malformed:
        return
    assert list(command.fields) == list((protocol.INPUTS | protocol.REQUESTS)[kind])
    assert (command.number is not None) == (kind in protocol.INPUTS)
    for numbers in (command.fields.get(name, ()) for name in ("position", "point", "rotation")):
        assert all(isinstance(x, float) and np.isfinite(x) for x in numbers)
    assert all(abs(command.fields.get(name, 0.0)) <= 1 for name in ("turn", "ahead"))


@pytest.mark.parametrize(
    ("text", "fields", "number"),
    [
        ('{"type":"open","scene":"arm","still":false}', {"scene": "arm", "still": False, "state": None}, None),
        ('{"type":"drag","number":3,"handle":"0","position":[1,2.5]}', {"handle": "0", "position": (1.0, 2.5)}, 3),
        ('{"type":"set","number":4,"name":"bones","value":3}', {"name": "bones", "value": 3}, 4),
        ('{"type":"seen","tick":9}', {"tick": 9, "picture": 0.0}, None),
        ('{"type":"seen","tick":9,"picture":250}', {"tick": 9, "picture": 250.0}, None),
        ('{"type":"drawn"}', {}, None),
        (
            '{"type":"grab","number":1,"handle":"part 5","point":[0,0.5,1]}',
            {"handle": "part 5", "point": (0.0, 0.5, 1.0)},
            1,
        ),
        (
            '{"type":"rotate","number":1,"handle":"head","rotation":[0,0,0,1]}',
            {"handle": "head", "rotation": (0.0, 0.0, 0.0, 1.0)},
            1,
        ),
        ('{"type":"pin","number":2,"handle":"head"}', {"handle": "head"}, 2),
        ('{"type":"steer","number":2,"turn":-1,"ahead":0.5}', {"turn": -1.0, "ahead": 0.5}, 2),
    ],
)
def test_what_the_page_sends_is_understood(text, fields, number):
    command = protocol.parse(text)
    assert (command.type, command.fields, command.number) == (json.loads(text)["type"], fields, number)


def test_every_input_is_a_method_of_scenes():
    for kind, fields in protocol.INPUTS.items():
        if kind not in ("undo", "cancel"):
            assert list(inspect.signature(getattr(Scene, kind)).parameters)[1:] == list(fields)


def test_a_message_to_the_page_has_the_fields_of_the_table():
    assert protocol.message("notice", message="x") == {"type": "notice", "message": "x"}
    with pytest.raises(TypeError, match="notice has the fields message"):
        protocol.message("notice", text="x")


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
        '{"type":"grab","number":1,"handle":5,"point":[0,0,0]}',
    ],
)
def test_broken_fields_are_refused(text):
    with pytest.raises(protocol.Malformed):
        protocol.parse(text)


@pytest.mark.parametrize("text", ["x" * 600_000, '{"type": "open", "scene": "' + "a" * 65 + '", "still": true}'])
def test_long_texts_are_refused(text):
    with pytest.raises(protocol.Malformed):
        protocol.parse(text)
