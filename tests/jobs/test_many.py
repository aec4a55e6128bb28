"""Many files: none stops the others, nothing is half-written, nothing is done twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings, MovingPoint
from kinema.bake.grounds import GroundSpec
from kinema.bake.job import BakeOrder
from kinema.demo import humanoid
from kinema.errors import InputError
from kinema.jobs.listing import items
from kinema.jobs.many import in_processes, on_dask, one_by_one, run_many
from kinema.jobs.order import run_order
from tests.jobs.dying import dying


@pytest.fixture(scope="module")
def person():
    """A small file with two clips: our person without skin."""
    made = humanoid()
    return km.Character(made.skeleton, {name: made.clips[name] for name in ("idle", "walk")}, made.rig)


@pytest.fixture
def folder(tmp_path, person):
    """Three files, one of which is none."""
    (tmp_path / "in").mkdir()
    km.save(tmp_path / "in" / "a.glb", person)
    (tmp_path / "in" / "b.glb").write_bytes(b"this is no character")
    km.save(tmp_path / "in" / "c.glb", person)
    return tmp_path


def order(**changes):
    """Something quick: the head turns, ten frames a second."""
    settings = BakeSettings(look_at=MovingPoint.fixed((1.0, 1.5, 2.0)), fps=10)
    return BakeOrder(settings=settings, clips=("idle",), fingerprint="look", **changes)


def bake_all(folder, runner, what=None, **options):
    what = what or order()
    return run_many(items([str(folder / "in")], folder / "out"), what, folder / "out", runner, **options)


def states(reports):
    return [report["status"] for report in reports]


def test_a_file_that_fails_stops_nothing_and_done_files_are_skipped(folder):
    reported = []
    reports = bake_all(folder, one_by_one(), done=reported.append)
    assert states(reports) == ["baked", "failed", "baked"]
    assert reported == reports
    assert "no known format" in reports[1]["problem"]
    assert sorted(os.listdir(folder / "out")) == [".kinema-files.json", "a.glb", "c.glb"]
    made = km.load(folder / "out" / "a.glb")
    assert list(made.clips) == ["idle", "walk", "idle baked"]
    before = (folder / "out" / "a.glb").stat().st_mtime_ns
    assert states(bake_all(folder, one_by_one())) == ["skipped", "failed", "skipped"]
    assert (folder / "out" / "a.glb").stat().st_mtime_ns == before


def test_files_baked_with_other_settings_are_replaced_only_with_force(folder):
    bake_all(folder, one_by_one())
    other = BakeOrder(settings=BakeSettings(fps=5), clips=("walk",), fingerprint="other")
    reports = bake_all(folder, one_by_one(), other)
    assert states(reports) == ["failed"] * 3
    assert "--force" in reports[0]["problem"]
    assert states(bake_all(folder, one_by_one(), other, force=True)) == ["baked", "failed", "baked"]
    assert "walk baked" in km.load(folder / "out" / "a.glb").clips


def test_processes_do_the_same(folder):
    assert states(bake_all(folder, in_processes(2))) == ["baked", "failed", "baked"]
    alone = run_order((folder / "in" / "a.glb").read_bytes(), "a.glb", ".glb", order())
    assert (folder / "out" / "a.glb").read_bytes() == alone.data


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_process_that_dies_takes_only_its_own_file_with_it(folder, monkeypatch):
    monkeypatch.setattr("kinema.jobs.many._in_worker", dying)
    reports = bake_all(folder, in_processes(2))
    assert states(reports) == ["baked", "failed", "baked"]
    assert "died" in reports[1]["problem"]


def test_a_file_that_cannot_be_written_is_reported(folder):
    (folder / "out").mkdir()
    (folder / "out" / "a.glb").mkdir()
    reports = bake_all(folder, one_by_one(), force=True)
    assert states(reports) == ["failed", "failed", "baked"]
    assert "written" in reports[0]["problem"]


def test_a_report_has_figures_before_and_after(folder):
    report = bake_all(folder, one_by_one())[0]
    (clip,) = report["clips"]
    assert clip["clip"] == "idle"
    assert clip["name"] == "idle baked"
    assert clip["frames"] > 10
    assert set(clip["before"]) == set(clip["after"])
    assert clip["after"]["knee_flips"] == 0
    assert report["rig"]["legs"].keys() == {"left", "right"}
    assert report["seconds"] > 0


def test_clips_are_chosen_by_name_or_pattern(folder):
    data = (folder / "in" / "a.glb").read_bytes()

    def chosen(*clips):
        report = run_order(data, "a.glb", ".glb", BakeOrder(settings=BakeSettings(fps=5), clips=clips)).report
        return [clip["clip"] for clip in report["clips"]] if report["status"] == "baked" else report["problem"]

    assert chosen("walk") == ["walk"]
    assert chosen("*") == ["idle", "walk"]
    assert chosen("w*", "walk") == ["walk"]
    assert "choose a clip of a with --clip" in chosen()
    assert "'walk'" in chosen("wlak")


def test_new_names_are_not_taken_and_bvh_holds_one(folder):
    data = (folder / "in" / "a.glb").read_bytes()
    both = BakeOrder(settings=BakeSettings(fps=5, name="walk"), clips=("*",))
    report = run_order(data, "a.glb", ".glb", both).report
    assert len({clip["name"] for clip in report["clips"]} | {"idle", "walk"}) == 4
    assert "one clip" in run_order(data, "a.glb", ".bvh", both).report["problem"]
    one = run_order(data, "a.glb", ".bvh", BakeOrder(settings=BakeSettings(fps=5), clips=("walk",)))
    assert one.data.startswith(b"HIERARCHY")


def test_folders_in_a_name_are_not_followed(folder):
    data = (folder / "in" / "a.glb").read_bytes()
    outcome = run_order(data, "../../outside.glb", ".glb", order())
    assert outcome.report["status"] == "baked"
    assert not (folder.parent / "outside.glb").exists()


def test_the_file_that_comes_out_is_the_one_that_went_in_with_a_clip_more(folder, person):
    bake_all(folder, one_by_one())
    old, new = km.load(folder / "in" / "a.glb"), km.load(folder / "out" / "a.glb")
    assert old.skeleton.names == new.skeleton.names
    for name, clip in old.clips.items():
        times = np.linspace(0.0, clip.duration, 7)
        assert np.array_equal(clip.sample(times).rotations, new.clips[name].sample(times).rotations)


distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

FILES = 4


@contextmanager
def program(*arguments):
    """A program that is ended when the test is."""
    process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)


def worker(address, name):
    quiet = ("--no-dashboard", "--nthreads", "1", "--no-nanny", "--name", name, "--death-timeout", "60")
    return program("distributed.cli.dask_worker", address, *quiet)


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler, and its two workers."""
    where = tmp_path / "scheduler.json"
    with ExitStack() as stack:
        stack.enter_context(
            program(
                "distributed.cli.dask_scheduler",
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--no-dashboard",
                "--scheduler-file",
                str(where),
            )
        )
        deadline = time.monotonic() + 30
        while not where.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        with distributed.Client(scheduler_file=str(where), timeout=30, set_as_default=False) as client:
            address = client.scheduler.address
            workers = [stack.enter_context(worker(address, name)) for name in ("one", "two")]
            client.wait_for_workers(2, timeout=60)
        yield address, workers


@pytest.fixture
def copies(tmp_path):
    person = humanoid()
    small = km.Character(person.skeleton, {"walk": person.clips["walk"].in_place(joint="root")}, person.rig)
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        km.save(tmp_path / "in" / f"{number}.glb", small)
    (tmp_path / "in" / "wrong.glb").write_bytes(b"nothing")
    return tmp_path


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_cluster_bakes_the_same_and_survives_a_worker_that_is_killed(cluster, copies):
    address, workers = cluster
    order = BakeOrder(settings=BakeSettings(fps=30, loops=4), ground=GroundSpec("slope", (0.2,)), fingerprint="slope")
    done = []

    def count(report):
        done.append(report["file"])
        if len(done) == 1:  # Both have work: the one that is killed is in the middle of some.
            threading.Timer(0.05, os.kill, (workers[0].pid, signal.SIGKILL)).start()

    reports = run_many(items([str(copies / "in")], copies / "out"), order, copies / "out", on_dask(address), done=count)
    assert [report["status"] for report in reports] == ["baked"] * FILES + ["failed"], reports
    assert workers[0].poll() == -signal.SIGKILL
    assert workers[1].poll() is None
    here = run_order((copies / "in" / "0.glb").read_bytes(), "0.glb", ".glb", order)
    assert (copies / "out" / f"{FILES - 1}.glb").read_bytes() == here.data


def test_a_missing_scheduler_is_an_error(monkeypatch):
    monkeypatch.setattr("kinema.jobs.many.DASK_PATIENCE", 0.5)
    with pytest.raises(InputError, match="no Dask scheduler"):
        next(on_dask("tcp://127.0.0.1:9")(iter(()), BakeOrder(settings=BakeSettings())), None)
