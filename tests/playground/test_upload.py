"""Characters that are dropped on the page: taken, shown, baked, refused."""

import asyncio
import urllib.error
import urllib.request

import numpy as np
import pytest

import kinema as km
from kinema.demo.scenes.grounds import body_of
from tests.assets import asset
from tests.judges.programs import validator_issues
from tests.playground.serving import connect, run, running


@pytest.fixture(scope="module")
def served():
    with running(port=18170) as one:
        yield one


def ask(address, data=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, data=data), timeout=120) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read()


async def files(served, page, name, data=None):
    return await asyncio.to_thread(ask, f"{served.http}/files/{page.session}/{name}", data)


async def opened(served):
    page = await connect(served, scene="character")
    await page.frame(timeout=300.0)
    return page


async def shows(page, name):
    """The next description of a character of this name."""
    while page.scene["description"]["name"] != name:
        await page.message("scene")
    return page.scene


def controls(scene):
    return {control["name"]: control for control in scene["controls"]}


@pytest.mark.parametrize("path", ["gltf/RiggedFigure.glb", "bvh/cmu_02_01.bvh"])
def test_a_dropped_character_is_shown_held_and_given_back_baked(served, path, tmp_path):
    source = asset(path)
    data = source.read_bytes()

    async def scenario():
        page = await opened(served)
        assert (await files(served, page, source.name, data))[0] == 200
        scene = await shows(page, source.stem)
        assert controls(scene)["character"]["value"] == f"{source.stem} (file)"
        assert {role["name"] for role in scene["description"]["roles"]} >= {"hips", "legs.left", "arms.right"}
        surface = path.endswith(".glb")
        assert await files(served, page, "model.glb") == (200, data) if surface else scene["description"]["bones"]

        frame = await page.frame()
        at = scene["description"]["handles"].index(
            next(h for h in scene["description"]["handles"] if h["name"] == "hand left")
        )
        size = scene["description"]["size"]
        to = frame.arrays["handles"][at] - frame.arrays["origin"] + np.array((0.0, 0.05, 0.05)) * size
        number = await page.input("drag", handle="hand left", position=to.tolist())
        frame = await page.frame(lambda frame: frame.input >= number and frame.arrays["held"][at] == 1)
        assert np.abs(frame.arrays["handles"][at] - frame.arrays["origin"] - to).max() < 1e-3 * size

        status, baked = await files(served, page, controls(scene)["baked"]["file"])
        assert status == 200
        (tmp_path / "baked.glb").write_bytes(baked)

    run(scenario)
    clips = km.load(tmp_path / "baked.glb", rig=False).clips
    assert "held pose" in clips
    assert any(name.endswith(" baked") for name in clips)
    assert not [issue for issue in validator_issues([tmp_path / "baked.glb"])[0] if issue[0] == 0]


def test_ours_are_given_as_files_too(served, tmp_path):
    async def scenario():
        page = await opened(served)
        for name in ("model.glb", "humanoid_baked.glb"):
            status, data = await files(served, page, name)
            assert status == 200
            (tmp_path / name).write_bytes(data)
        status, ground = await files(served, page, "ground.bin")
        vertices, triangles = body_of("course")
        assert np.frombuffer(ground, "<u4", 2).tolist() == [len(vertices), len(triangles)]
        assert len(ground) == 8 + 12 * (len(vertices) + len(triangles))

    run(scenario)
    assert not any(issue[0] == 0 for issues in validator_issues(sorted(tmp_path.glob("*.glb"))) for issue in issues)
    assert "walk baked" in km.load(tmp_path / "humanoid_baked.glb", rig=False).clips


BROKEN = {
    "empty.glb": b"",
    "words.bvh": b"There once was a character.",
    "short.glb": b"glTF\x02\x00\x00\x00\xff\xff\xff\x7f",
    "deep.gltf": b'{"asset":' + b"[" * 100_000,
    "no joints.gltf": b'{"asset":{"version":"2.0"}}',
    "half.bvh": b"HIERARCHY\nROOT hips\n{\nOFFSET 0 0 0\n",
    "endless.bvh": b"HIERARCHY\nROOT hips\n{\nOFFSET 0 1e30 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 1e30 0\n}\n}\n"
    b"MOTION\nFrames: 1\nFrame Time: 0.1\n\n",
}


def test_broken_files_are_refused_and_nothing_else_changes(served):
    async def scenario():
        page = await opened(served)
        before = page.scene["description"]["model"]
        for name, data in BROKEN.items():
            status, answer = await files(served, page, name.replace(" ", "%20"), data)
            assert status == 422, (name, answer)
        assert (await files(served, page, "..%2F..%2Fetc%2Fpasswd.glb", b"x"))[0] in (404, 422)
        first = await page.frame()
        await page.frame(lambda frame: frame.tick > first.tick + 3)
        assert page.scene["description"]["model"] == before

    run(scenario)


def test_a_guest_stays_when_the_scene_starts_again(served):
    source = asset("gltf/RiggedFigure.glb")

    async def scenario():
        page = await opened(served)
        await files(served, page, source.name, source.read_bytes())
        await shows(page, source.stem)
        await page.send("reset")
        await page.frame(lambda frame: frame.time < 0.2)
        assert (await shows(page, source.stem))["description"]["guest"]

    run(scenario)
