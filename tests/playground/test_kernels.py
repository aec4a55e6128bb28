"""Compiling ahead of the first frame, and saying how far it is."""

import threading

from kinema.demo.scenes.planar import PlanarScene
from kinema.demo.scenes.registry import SCENES
from kinema.playground import kernels


class Slow(PlanarScene):
    """A scene whose kernels take until they are told."""

    title = "Slow"
    go_on = threading.Event()
    compiled = 0

    @classmethod
    def kernels(cls):
        def job():
            assert cls.go_on.wait(10)
            Slow.compiled += 1

        return {"one": job, "two": job}


def test_who_comes_second_hears_how_far_it_is_and_compiles_nothing():
    heard = {"first": [], "second": []}

    def listen(name):
        kernels.make_ready(Slow, lambda *news: heard[name].append(news))

    first = threading.Thread(target=listen, args=("first",))
    first.start()
    while not any("one" in what for _, _, what in heard["first"]):
        threading.Event().wait(0.005)
    second = threading.Thread(target=listen, args=("second",))
    second.start()
    while not heard["second"]:
        threading.Event().wait(0.005)
    Slow.go_on.set()
    for thread in (first, second):
        thread.join(10)
        assert not thread.is_alive()
    assert Slow.compiled == 2
    assert (0, 2, "Slow: one") in heard["second"] and (1, 2, "Slow: two") in heard["second"]
    listen("second")  # It is ready: nothing happens.
    assert Slow.compiled == 2


def test_the_other_process_ends_when_its_parent_is_gone():
    """However the parent ends, its end of the pipe is closed."""
    child = kernels.compile_the_rest(PlanarScene)
    child.stdin.close()
    assert child.wait(60) != 0


def test_the_other_process_compiles_every_scene():
    kernels.main(list(SCENES))
