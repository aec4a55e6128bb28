"""What a session sends after an input, and how often it steps for a page that draws slowly."""

import numpy as np
import pytest

from kinema.demo.scenes.scene import SceneStatus
from kinema.playground import protocol
from kinema.playground.constants import LONGEST_STEP, TICK
from kinema.playground.session import Session
from tests.playground.serving import Frame


class Row:
    """A scene of a hundred values, of which an answer changes two. `step` takes no time."""

    by_row = ("values",)
    revision = 1

    def __init__(self):
        self.values = np.zeros((100, 2), np.float32)

    def answer(self, dt):
        self.values[[3, 70]] += 1.0
        return np.array((3, 70))

    def step(self, dt):
        self.values += 1.0

    def frame(self):
        return {"values": self.values.copy(), "target": np.array((1.0, 2.0, 3.0))}

    def status(self):
        return SceneStatus(0.0, 1, 1)

    def panel(self):
        return []

    def description(self):
        return {}


@pytest.fixture
def session():
    """A session whose thread does not run: the tests advance it."""
    one = Session("crowd", still=True, state=None, wake=lambda: None)
    one.scene = Row()
    return one


def advance(session, *, in_a_hurry):
    return session._advance(TICK, 60.0, changed=True, in_a_hurry=in_a_hurry)


def sent(session):
    """The frames that wait, as bytes."""
    return [message for message in session.outbox.take(frames=True) if isinstance(message, bytes)]


def is_partial(frame):
    return bool(protocol.HEADER.unpack_from(frame)[0] & protocol.PARTIAL)


def test_an_answer_has_only_the_rows_that_changed(session):
    advance(session, in_a_hurry=False)
    (whole,) = sent(session)
    assert not advance(session, in_a_hurry=True)
    (answer,) = sent(session)
    assert len(answer) < len(whole) / 5
    layout = protocol.layout_of(session.scene.frame())
    before, after = Frame(whole, layout), Frame(answer, layout, session.scene.by_row)
    assert after.rows.tolist() == [3, 70]
    assert np.array_equal(after.arrays["values"], before.arrays["values"][[3, 70]] + 1.0)
    assert after.arrays["target"].tolist() == [1.0, 2.0, 3.0]
    assert after.tick == before.tick + 1


def test_the_first_frame_is_whole(session):
    advance(session, in_a_hurry=True)
    assert [is_partial(frame) for frame in sent(session)] == [False]


def test_a_frame_that_still_waits_is_replaced_by_a_whole_one(session):
    advance(session, in_a_hurry=False)
    sent(session)
    for in_a_hurry in (True, True):
        advance(session, in_a_hurry=in_a_hurry)
    assert [is_partial(frame) for frame in sent(session)] == [False]


def test_answers_are_taken_where_whole_frames_have_to_wait(session):
    advance(session, in_a_hurry=False)
    sent(session)
    advance(session, in_a_hurry=True)
    assert len(session.outbox.take(frames=False, answers=True)) == 1
    advance(session, in_a_hurry=False)
    assert session.outbox.take(frames=False, answers=True) == []
    assert len(sent(session)) == 1


@pytest.mark.parametrize(
    ("picture", "step", "interval"),
    [
        (0.01, 0.02, TICK),  # The page draws quickly.
        (0.30, 0.0005, TICK),  # Steps cost next to nothing.
        (0.30, 0.004, 0.04),
        (0.30, 0.02, LONGEST_STEP),
    ],
)
def test_costly_steps_are_further_apart_while_the_page_draws_slowly(session, picture, step, interval):
    session.picture_seconds, session._step_seconds = picture, step
    assert session._interval == pytest.approx(interval)


# --- states ------------------------------------------------------------------------------------------------------


class Kept:
    """A session of a real scene whose thread does not run, and the states that it sends."""

    def __init__(self, state=None, scene="lab"):
        self.session = Session(scene, still=True, state=state, wake=lambda: None)
        self.session._begin(self.session.kind())
        self.session._restore_first()

    def do(self, kind, number=None, **fields):
        self.session.send(protocol.Command(kind, fields, number))
        self.session._execute_all()

    def sent(self, kind):
        return [m for m in self.session.outbox.take(frames=True) if isinstance(m, dict) and m["type"] == kind]

    def state(self):
        self.session._keep(everything=True)
        return self.sent("state")[-1]["state"]


def test_a_session_goes_on_from_the_state_of_another_and_undoes_its_inputs():
    one = Kept()
    one.do("set", 1, name="bones", value=5)
    one.do("pause", paused=True)
    other = Kept(one.state())
    assert other.session.scene.values["bones"] == 5
    assert other.session._paused
    other.do("undo", 2, again=False)
    assert other.session.scene.values["bones"] == 8


def test_a_state_that_cannot_be_shown_changes_nothing():
    one = Kept()
    one.do("set", 1, name="bones", value=5)
    before = one.state()
    one.do("restore", 2, state={"values": {"bones": 7, "limit": 1e9}, "own": {"target": [0, 1, 0]}})
    assert one.sent("notice")
    assert one.state()["values"] == before["values"]


def test_a_state_waits_for_its_file_and_the_page_keeps_the_one_it_has():
    state = {"values": {"character": "knight (file)"}, "own": {"held": {}, "file": "knight.glb"}}
    one = Kept(state, "character")
    assert one.sent("wants") == [{"type": "wants", "file": "knight.glb", "needed": True}]
    one.session._keep(everything=True)
    assert one.sent("state") == []
    one.do("set", 1, name="ground", value="rocks")  # The user goes on without the file.
    assert one.state()["values"]["ground"] == "rocks"


def test_the_last_state_is_sent_when_the_page_leaves():
    session = Session("lab", still=True, state=None, wake=lambda: None)
    session.start()
    session.send(protocol.Command("set", {"name": "bones", "value": 6}, 1))
    session.close()
    session._thread.join(60)
    assert session.has_ended
    states = [m["state"] for m in session.outbox.take(frames=True) if isinstance(m, dict) and m["type"] == "state"]
    assert [state["values"]["bones"] for state in states if "values" in state] == [6]
