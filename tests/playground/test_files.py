"""Files that are dropped on a scene, and files that it gives."""

import asyncio
import urllib.error
import urllib.request

import pytest

from kinema.demo.scenes import registry
from kinema.demo.scenes.planar import PlanarScene
from kinema.errors import InputError
from kinema.playground import constants, kernels
from tests.playground.serving import connect, run, running


class Keeper(PlanarScene):
    """A scene that keeps what it gets."""

    name = "keeper"
    takes = (".glb",)

    def __init__(self, seed=0):
        super().__init__(seed)
        self.kept = {}

    def receive(self, name, data):
        if data == b"bad":
            raise InputError("that is no character")
        if data == b"worse":
            raise ZeroDivisionError("worse")
        self.kept[name] = data

    def give(self, name):
        return self.kept[name] if name in self.kept else super().give(name)


@pytest.fixture(scope="module")
def served():
    for job in kernels.first_jobs(PlanarScene).values():
        job()
    with running(port=18160) as one:
        yield one


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(registry.SCENES, "keeper", Keeper)


def ask(address, data=None, origin=None):
    request = urllib.request.Request(address, data=data, headers={"Origin": origin} if origin else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read()


async def files(served, page, name, data=None, origin=None):
    address = f"{served.http}/files/{page.session}/{name}"
    return await asyncio.to_thread(ask, address, data, origin)


def test_a_file_goes_to_the_scene_and_comes_back(served):
    async def scenario():
        page = await connect(served, scene="keeper")
        await page.frame()
        content = bytes(range(256)) * 4000
        assert (await files(served, page, "knight.glb", content))[0] == 200
        assert await files(served, page, "knight.glb") == (200, content)

    run(scenario)


def test_refusals_of_the_scene_are_reported(served):
    async def scenario():
        page = await connect(served, scene="keeper")
        await page.frame()
        assert await files(served, page, "x.glb", b"bad") == (422, b"that is no character")
        assert (await files(served, page, "nothing.glb"))[0] == 422
        assert (await files(served, page, "..%2F..%2Fetc%2Fpasswd"))[0] in (404, 422)
        await page.frame()
        plain = await connect(served, scene="planar")
        await plain.frame()
        assert (await files(served, plain, "x.glb", b"1"))[0] == 422

    run(scenario)


def test_a_scene_that_raises_on_a_file_ends_only_its_session(served):
    async def scenario():
        page, neighbour = await connect(served, scene="keeper"), await connect(served)
        await page.frame()
        upload = asyncio.create_task(files(served, page, "x.glb", b"worse"))
        assert "ZeroDivisionError" in (await page.message("end"))["message"]
        assert (await upload)[0] in (404, 422, 500)
        await neighbour.frame()

    run(scenario)


def test_files_too_large_sessions_of_others_and_other_pages_are_refused(served, monkeypatch):
    monkeypatch.setattr("kinema.playground.server.LARGEST_FILE", 1000)

    async def scenario():
        page = await connect(served, scene="keeper")
        await page.frame()
        assert (await files(served, page, "x.glb", b"1" * 1001))[0] == 413
        assert (await files(served, page, "x.glb", b"1", origin="http://evil.example"))[0] == 404
        page.session = "guessed"
        assert (await files(served, page, "x.glb", b"1"))[0] == 404

    run(scenario)
    assert constants.LARGEST_FILE > 2**20
