"""Compiling ahead of the first frame, and saying how far it is."""

import subprocess
import sys
import threading

from kinema.demo.scenes.planar import PlanarScene
from kinema.demo.scenes.registry import SCENES
from kinema.playground import constants, kernels, server


class Slow(PlanarScene):
    """A scene whose kernels take until they are told."""

    title = "Slow"
    go_on = threading.Event()
    compiled = 0


def compile_slowly():
    assert Slow.go_on.wait(10)
    Slow.compiled += 1


def test_a_second_process_shows_progress_and_compiles_nothing(monkeypatch):
    monkeypatch.setattr(kernels, "first_jobs", lambda kind: dict.fromkeys(("one", "two"), compile_slowly))
    heard = {"first": [], "second": []}

    def listen(name):
        kernels.make_ready(Slow, heard[name].append)

    first = threading.Thread(target=listen, args=("first",))
    first.start()
    while not any("one" in news.what for news in heard["first"]):
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
    assert {(0, 2, "Slow: one"), (1, 2, "Slow: two")} <= {news[:3] for news in heard["second"]}
    listen("second")  # It is ready: nothing happens.
    assert Slow.compiled == 2


def test_the_other_process_ends_when_its_parent_is_gone():
    """However the parent ends, its end of the pipe is closed."""
    child = kernels.compile_the_rest(PlanarScene)
    child.stdin.close()
    assert child.wait(60) != 0


def test_everything_that_the_other_process_compiled_is_loaded_here(monkeypatch):
    monkeypatch.setattr(kernels, "LOADING_PAUSE", 0.0)
    monkeypatch.setattr(kernels, "_ready", set())
    monkeypatch.setattr(kernels, "_complete", set())
    kernels._load(list(SCENES))
    played = {SCENES[name] for name in SCENES}
    assert kernels._ready == kernels._complete == played


def test_a_scene_that_is_opened_while_others_are_loaded_waits_for_one_job_at_most(monkeypatch):
    """Loading all that a scene can need takes seconds; what a page shows next does not wait for that."""
    loading, go_on, done = threading.Event(), threading.Event(), []

    class Loaded(PlanarScene):
        pass

    class Opened(PlanarScene):
        pass

    jobs = {
        Loaded: {"one": lambda: loading.set() or go_on.wait(10), "two": lambda: done.append("two")},
        Opened: {"its own": lambda: done.append("opened")},
    }
    monkeypatch.setattr(kernels, "first_jobs", jobs.get)
    monkeypatch.setattr(kernels, "later_jobs", lambda kind: ())
    monkeypatch.setattr(kernels, "LOADING_PAUSE", 0.2)
    monkeypatch.setattr(kernels, "kind_of", lambda name: Loaded)
    monkeypatch.setattr(kernels, "_other", None)
    loader = threading.Thread(target=kernels._load, args=(["loaded"],))
    loader.start()
    assert loading.wait(10)
    opener = threading.Thread(target=kernels.make_ready, args=(Opened, lambda progress: None))
    opener.start()
    go_on.set()
    for thread in (opener, loader):
        thread.join(10)
        assert not thread.is_alive()
    assert done == ["opened", "two"]


def test_the_estimate_adapts_to_the_machine(monkeypatch):
    clock = iter((0.0, 2.0, 4.0))  # Each job takes half of what is typical.
    monkeypatch.setattr(kernels.time, "monotonic", lambda: next(clock))
    heard = []
    kernels.run_jobs("Scene", dict.fromkeys(("one", "two", "three"), lambda: None), heard.append)
    assert [news.seconds for news in heard] == [12.0, 4.0, 2.0, 0.0]
    assert heard[-1].done == heard[-1].total == 3


def test_a_scene_that_is_asked_for_is_compiled_next():
    queue = kernels.Queue(["planar", "arm", "lab"])
    assert queue.next() == ("planar", True)
    queue.move_to_front("lab")
    queue.move_to_front("planar")  # Already done.
    assert [queue.next() for _ in range(5)] == [
        ("lab", True),
        ("arm", True),
        ("planar", False),
        ("arm", False),
        ("lab", False),
    ]
    assert queue.next() is None


def test_who_opens_a_scene_waits_for_the_other_process_and_compiles_nothing_twice(monkeypatch):
    """The other process says that it has compiled the scene; only then is it loaded here."""
    program = 'import sys; name = sys.stdin.readline().strip(); print(f\'["{name}", 0, 1, "job", 3.0]\'); ' + (
        'print(f\'["{name}", 1, 1, "ready", 0.0]\'); sys.stdout.flush(); sys.stdin.read(); sys.exit(1)'
    )
    started = subprocess.Popen
    monkeypatch.setattr(
        kernels.subprocess, "Popen", lambda command, **pipes: started([sys.executable, "-c", program], **pipes)
    )
    other = kernels.OtherProcess(["slow"])
    heard = []
    monkeypatch.setattr(kernels, "_listeners", [heard.append])
    other.wait_for("slow")
    assert [news[:3] for news in heard] == [(0, 1, "job")]
    other.process.stdin.close()
    other.process.wait(10)
    other.wait_for("slow")  # It is done: no more waiting, even though the process is gone.


def test_the_other_scenes_are_compiled_in_another_process_once_the_first_picture_is_drawn(monkeypatch):
    steps, started, compilers, drawn = [], subprocess.Popen, [], threading.Event()

    def start(command, **pipes):
        steps.append(command)
        return started([sys.executable, "-c", "raise SystemExit(1)"], **pipes)

    monkeypatch.setattr(kernels.subprocess, "Popen", start)
    monkeypatch.setattr(kernels, "_other", None)
    monkeypatch.setattr(kernels, "make_ready", lambda kind, listener: steps.append(kind))
    compiling = threading.Thread(target=server._compile, args=("planar", drawn, compilers))
    compiling.start()
    compiling.join(0.3)
    assert steps == [PlanarScene]
    drawn.set()
    compiling.join(10)
    assert not compiling.is_alive()
    assert compilers[0].wait(10) == 1
    # What the first scene can need later comes first, then every other scene.
    assert steps[1][-len(SCENES) :] == ["planar", *(name for name in SCENES if name != "planar")]


def test_the_other_scenes_do_not_wait_forever_for_a_page(monkeypatch):
    monkeypatch.setattr(server, "FIRST_PICTURE_WAIT", 0.01)
    monkeypatch.setattr(kernels, "make_ready", lambda kind, listener: None)
    monkeypatch.setattr(kernels, "compile_the_rest", lambda kind: kind)
    compilers = []
    server._compile("planar", threading.Event(), compilers)
    assert compilers == [PlanarScene]


def test_the_names_of_the_scenes_are_those_of_the_registry():
    assert tuple(SCENES) == constants.SCENE_NAMES
