"""The same on a Dask cluster: a real scheduler, two real workers, one of which is killed in the middle."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

import kinema as km
from kinema.bake import BakeSettings
from kinema.bake.cluster import on_dask
from kinema.bake.grounds import GroundSpec
from kinema.bake.job import Order, bake_file
from kinema.bake.listing import items
from kinema.bake.many import bake_many
from kinema.demo import humanoid
from kinema.errors import InputError

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
def folder(tmp_path):
    person = humanoid()
    small = km.Character(person.skeleton, {"walk": person.clips["walk"].in_place(joint="root")}, person.rig)
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        km.save(tmp_path / "in" / f"{number}.glb", small)
    (tmp_path / "in" / "wrong.glb").write_bytes(b"nothing")
    return tmp_path


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_cluster_bakes_the_same_and_survives_a_worker_that_is_killed(cluster, folder):
    address, workers = cluster
    order = Order(BakeSettings(fps=30, loops=4), GroundSpec("slope", (0.2,)), fingerprint="slope")
    done = []

    def count(report):
        done.append(report["file"])
        if len(done) == 1:  # Both have work: the one that is killed is in the middle of some.
            threading.Timer(0.05, os.kill, (workers[0].pid, signal.SIGKILL)).start()

    reports = bake_many(
        items([str(folder / "in")], folder / "out"), order, folder / "out", on_dask(address), done=count
    )
    assert [report["status"] for report in reports] == ["baked"] * FILES + ["failed"], reports
    assert workers[0].poll() == -signal.SIGKILL
    assert workers[1].poll() is None
    here = bake_file((folder / "in" / "0.glb").read_bytes(), "0.glb", ".glb", order)
    assert (folder / "out" / f"{FILES - 1}.glb").read_bytes() == here.data


def test_a_missing_scheduler_is_an_error(monkeypatch):
    monkeypatch.setattr("kinema.bake.cluster.DASK_PATIENCE", 0.5)
    with pytest.raises(InputError, match="no Dask scheduler"):
        next(on_dask("tcp://127.0.0.1:9")(iter(()), Order(BakeSettings())), None)
