"""Files that take long: the scene goes on while they are made, and the page hears how far they are."""

import threading
import time
from concurrent.futures import Future

import pytest

from kinema.errors import InputError
from kinema.playground import protocol
from kinema.playground.session import Session


class Job:
    """Work that goes on until it is let go."""

    def __init__(self):
        self.reported, self.go_on = threading.Event(), threading.Event()

    def __call__(self, progress):
        progress(0.25)
        self.reported.set()
        self.go_on.wait(30.0)
        progress(0.5)
        return b"done"


@pytest.fixture
def session():
    one = Session("planar", still=True, state=None, wake=lambda: None)
    one.start()
    yield one
    one.close()


def collect(session, until, seconds=30.0):
    """All messages until something holds of them."""
    messages, end = [], time.monotonic() + seconds
    while not until(messages):
        assert time.monotonic() < end, "it never came"
        messages += session.outbox.take(frames=True)
        time.sleep(0.01)
    return messages


def frames(messages):
    return [message for message in messages if isinstance(message, bytes)]


def works(messages):
    return [message["share"] for message in messages if isinstance(message, dict) and message["type"] == "work"]


def test_the_scene_goes_on_while_a_file_is_made(session):
    collect(session, frames)
    job, done = Job(), Future()
    session.scene.long_job = lambda name: job
    session.send(protocol.Give("walk.glb", done))
    assert job.reported.wait(30.0)
    assert len(frames(collect(session, lambda messages: len(frames(messages)) > 5))) > 5
    assert not done.done()
    job.go_on.set()
    assert done.result(30.0) == b"done"
    assert works(collect(session, lambda messages: 1.0 in works(messages)))[-1] == 1.0


def test_the_page_hears_how_far_a_file_is(session):
    collect(session, frames)
    job, done = Job(), Future()
    session.scene.long_job = lambda name: job
    session.send(protocol.Give("walk.glb", done))
    assert works(collect(session, works))[0] == 0.25
    job.go_on.set()
    done.result(30.0)


def test_a_refused_job_says_why_and_the_scene_goes_on(session):
    collect(session, frames)

    def refused(name):
        raise InputError("the clip is too long")

    session.scene.long_job = refused
    done = Future()
    session.send(protocol.Give("walk.glb", done))
    with pytest.raises(InputError, match="too long"):
        done.result(30.0)
    assert frames(collect(session, frames))


def test_a_job_ends_with_its_session(session):
    collect(session, frames)
    job, done = Job(), Future()
    session.scene.long_job = lambda name: job
    session.send(protocol.Give("walk.glb", done))
    assert job.reported.wait(30.0)
    session.close()
    job.go_on.set()
    with pytest.raises(InputError, match="left"):
        done.result(30.0)
