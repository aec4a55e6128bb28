"""The server under good and bad conditions: one session ends with a message, the others never notice."""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import numpy as np
import pytest
import websockets

from kinema.demo.scenes import registry
from kinema.demo.scenes.planar import PlanarScene
from kinema.errors import InputError
from kinema.playground import constants, kernels, server
from tests.playground.serving import connect, open_socket, run, running


@pytest.fixture(scope="module")
def served():
    for job in kernels.first_jobs(PlanarScene).values():
        job()
    with running() as one:
        yield one


def fetch(address, host=None):
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read(), problem.headers


def raw_get(port, path):
    """A path as it is written: nobody tidies it up on the way."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as wire:
        wire.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := wire.recv(65536):
            answer += part
    return int(answer.split(b" ", 2)[1]), answer


# --- the page ------------------------------------------------------------------------------------------------------


def test_the_page_is_served_with_its_policy(served):
    status, body, headers = fetch(served.http + "/")
    assert status == 200
    assert b"page" in body
    assert headers["Content-Type"].startswith("text/html")
    assert "default-src 'self'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2fserver.py",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/page/../../cli.py",
        "//etc/passwd",
        "/app.js/",
        "/x",
    ],
)
def test_paths_are_names_and_nothing_else(served, path):
    status, answer = raw_get(served.port, path)
    assert status in (307, 404)
    assert b"import" not in answer
    assert b"root:" not in answer


def test_other_names_for_this_machine_are_refused(served):
    assert fetch(served.http + "/", host="evil.example")[0] == 403
    assert fetch(served.http + "/", host=f"localhost:{served.port}")[0] == 200
    assert fetch(served.http + "/", host=f"[::1]:{served.port}")[0] == 200


# --- a session -----------------------------------------------------------------------------------------------------


def test_a_drag_is_answered(served):
    async def scenario():
        page = await connect(served)
        first = await page.frame()
        assert first.count == 5
        assert first.arrays["joints"].shape == (15, 2)
        to = first.arrays["joints"][0] + np.array((90.0, 70.0), np.float32)
        number = await page.input("drag", handle="0", position=to.tolist())
        answer = await page.frame(lambda frame: frame.input >= number)
        assert np.abs(answer.arrays["joints"][2] - to).max() < 1e-3
        assert answer.arrays["reached"][0] == 1.0

    run(scenario)


def test_pointer_to_answer_takes_less_than_two_ticks_or_so(served):
    """No timed assertion: the ticks between an input and its answer are counted."""

    async def scenario():
        page = await connect(served)
        ticks = []
        for i in range(20):
            before = (await page.frame()).tick
            number = await page.input("drag", handle="1", position=[float(i), 50.0])
            ticks.append((await page.frame(lambda frame, number=number: frame.input >= number)).tick - before)
        assert np.median(ticks) <= 3

    run(scenario)


def test_what_an_answer_left_out_comes_with_the_next_tick(served, monkeypatch):
    """A scene that answers in part is stepped at its ticks, however fast inputs come."""
    steps = []

    def step(scene, dt):
        steps.append(dt)

    monkeypatch.setattr(PlanarScene, "step", step)
    monkeypatch.setattr(PlanarScene, "answer", lambda scene, dt: np.zeros(0, int))

    async def scenario():
        page = await connect(served)
        first = await page.frame()
        for i in range(40):
            number = await page.input("drag", handle="1", position=[float(i), 50.0])
            last = await page.frame(lambda frame, number=number: frame.input >= number)
        before = len(steps)
        await page.frame(lambda frame: frame.tick > last.tick + 3)
        assert len(steps) > before
        assert last.time > first.time

    run(scenario)
    assert len(steps) > 3
    assert max(steps) <= constants.LONGEST_STEP


def test_two_pages_do_not_disturb_each_other(served):
    async def scenario():
        one, other = await connect(served), await connect(served)
        number = await one.input("key", key="n", position=[10.0, 20.0])
        grown = await one.frame(lambda frame: frame.input >= number)
        assert grown.count == 6
        assert np.allclose(grown.arrays["joints"][15], (10.0, 20.0))
        assert np.allclose(grown.arrays["targets"][5], (160.0, 20.0))
        for _ in range(10):
            assert (await other.frame()).count == 5

    run(scenario)


def test_pause_step_reset(served):
    async def scenario():
        page = await connect(served, still=False)
        await page.frame()
        await page.send("pause", paused=True)
        while not (await page.message("scene"))["paused"]:
            pass
        stopped = await page.frame()
        await page.send("step")
        stepped = await page.frame(lambda frame: frame.time > stopped.time)
        assert stepped.time - stopped.time == pytest.approx(constants.TICK)
        await page.send("reset")
        assert (await page.frame(lambda frame: frame.time < stopped.time)).time == 0.0

    run(scenario)


def test_a_drag_while_paused_is_solved_and_time_stands_still(served):
    async def scenario():
        page = await connect(served, still=False)
        await page.frame()
        await page.send("pause", paused=True)
        while not (await page.message("scene"))["paused"]:
            pass
        stopped = await page.frame()
        to = stopped.arrays["joints"][0] + np.array((90.0, 70.0), np.float32)
        number = await page.input("drag", handle="0", position=to.tolist())
        answer = await page.frame(lambda frame: frame.input >= number)
        assert np.abs(answer.arrays["joints"][2] - to).max() < 1e-3
        assert answer.time == stopped.time
        far = stopped.arrays["joints"][0] + np.array((0.0, 900.0), np.float32)
        number = await page.input("drag", handle="0", position=far.tolist())
        answer = await page.frame(lambda frame: frame.input >= number)
        assert answer.error == pytest.approx(700.0, abs=1.0)
        assert answer.reached < answer.count

    run(scenario)


def test_another_scene_on_the_same_connection(served):
    async def scenario():
        page = await connect(served)
        await page.frame(lambda frame: frame.tick > 5)
        await page.send("open", scene="planar", still=True)
        assert (await page.frame(lambda frame: frame.tick <= 3)).count == 5

    run(scenario)


def test_a_refused_value_is_reported_and_changes_nothing(served):
    async def scenario():
        page = await connect(served)
        await page.frame()
        await page.input("set", name="bones", value=1000)
        assert "24" in (await page.message("notice"))["message"]
        await page.input("set", name="no such thing", value=1)
        assert "no such thing" in (await page.message("notice"))["message"]
        assert (await page.frame()).arrays["joints"].shape == (15, 2)

    run(scenario)


# --- bad conditions ------------------------------------------------------------------------------------------------

MALFORMED = [
    "",
    "not json",
    "[]",
    "null",
    "[" * 50_000,
    '{"type": "drag"}',
    '{"type": "fly"}',
    '{"type": ["drag"]}',
    '{"type": "drag", "number": -1, "handle": "0", "position": [0, 0]}',
    '{"type": "drag", "number": 1, "handle": "0", "position": [NaN, 0]}',
    '{"type": "drag", "number": 1, "handle": "0", "position": [1e999, 0]}',
    '{"type": "drag", "number": 1, "handle": "0", "position": [' + "9" * 400 + ", 0]}",
    '{"type": "drag", "number": 1, "handle": 0, "position": [0, 0]}',
    '{"type": "set", "number": 1, "name": "mirror", "value": [1]}',
    '{"type": "open", "scene": "../../etc/passwd", "still": true}',
    '{"type": "seen", "tick": 1e3}',
    b"\x00\x01\x02",
]


@pytest.mark.parametrize("message", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_message_ends_that_session_with_a_word(served, message):
    async def scenario():
        neighbour = await connect(served)
        page = await connect(served)
        await page.frame()
        await page.socket.send(message)
        assert "This session ended" in (await page.message("end"))["message"]
        with pytest.raises(websockets.ConnectionClosed):
            await page.frame()
        before = (await neighbour.frame()).tick
        assert (await neighbour.frame(lambda frame: frame.tick > before + 3)).count == 5

    run(scenario)


def test_a_huge_message_ends_the_connection(served):
    async def scenario():
        page = await connect(served)
        await page.frame()
        with contextlib.suppress(websockets.ConnectionClosed):
            await page.socket.send("x" * (constants.LARGEST_MESSAGE + 1))
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await page.message("this never comes")
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009

    run(scenario)


def test_a_flood_ends_that_session_with_a_word(served):
    async def scenario():
        page = await connect(served)
        message = json.dumps({"type": "visible", "visible": True})
        with contextlib.suppress(websockets.ConnectionClosed):
            for _ in range(int(constants.MESSAGES_IN_A_BURST) * 3):
                await page.socket.send(message)
        assert "messages a second" in (await page.message("end"))["message"]

    run(scenario)


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", "file://"])
def test_pages_of_others_are_refused(served, origin):
    async def scenario():
        with pytest.raises(websockets.InvalidStatus) as refused:
            await connect(served, origin=origin)
        assert refused.value.response.status_code == 403

    run(scenario)


def test_our_own_page_is_let_in(served):
    async def scenario():
        page = await connect(served, origin=f"http://127.0.0.1:{served.port}")
        assert (await page.frame()).count == 5

    run(scenario)


def test_a_scene_that_raises_ends_only_its_session(served, monkeypatch):
    class Broken(PlanarScene):
        name = "broken"

        def step(self, dt):
            if dt > 0.0 and self.revision > 0:
                raise ZeroDivisionError("by itself")
            super().step(dt)

    monkeypatch.setitem(registry.SCENES, "broken", Broken)

    async def scenario():
        neighbour = await connect(served)
        page = await connect(served, scene="broken", still=False)
        await page.frame()
        await page.input("key", key="n", position=[0.0, 0.0])
        assert "ZeroDivisionError: by itself" in (await page.message("end"))["message"]
        before = (await neighbour.frame()).tick
        assert (await neighbour.frame(lambda frame: frame.tick > before + 3)).count == 5

    run(scenario)


def test_a_page_that_reads_nothing_gets_the_newest_frame_later(served):
    async def scenario():
        page = await connect(served)
        first = await page.frame()
        await asyncio.sleep(0.8)  # Nothing is read, nothing confirmed: at most so many frames are on their way.
        skipped = []
        while not skipped or skipped[-1] - skipped[0] < 30:
            skipped.append((await page.frame()).tick)
        assert skipped[0] <= first.tick + 2
        assert np.diff(skipped).max() > 10

    run(scenario)


def test_vanished_pages_leave_nothing_behind(served):
    async def scenario():
        for _ in range(5):
            page = await connect(served)
            await page.frame()
            page.socket.transport.abort()
        await asyncio.sleep(0.2)

    run(scenario)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(t.name == "kinema-planar" for t in threading.enumerate()):
        time.sleep(0.02)
    assert not [t for t in threading.enumerate() if t.name == "kinema-planar"]
    assert served.app.open_sessions == 0


def test_a_hundred_connections(served):
    """So many as there is room for are served, the others are told."""

    async def first_words():
        socket = await open_socket(served)
        return json.loads(await socket.recv())

    async def scenario():
        answers = await asyncio.gather(*(first_words() for _ in range(100)))
        assert sum(answer["type"] == "hello" for answer in answers) == constants.MOST_SESSIONS
        assert sum("full" in answer.get("message", "") for answer in answers) == 100 - constants.MOST_SESSIONS

    run(scenario)
    assert fetch(served.http + "/")[0] == 200


# --- ports ---------------------------------------------------------------------------------------------------------


def test_a_port_in_use_gives_the_next_free_one_and_a_notice(capsys):
    with server.listen("127.0.0.1", 18400) as first:
        wanted = first.getsockname()[1]
        with server.listen("127.0.0.1", wanted) as second:
            assert second.getsockname()[1] > wanted
    assert f"Port {wanted} is taken" in capsys.readouterr().out


@pytest.mark.parametrize(("host", "says"), [("no-such-host.invalid", "no address"), ("192.0.2.1", "not an address of")])
def test_an_address_that_is_not_ours_is_refused_by_name(host, says, capsys):
    with pytest.raises(InputError, match=says) as refused:
        server.listen(host, None)
    assert host in str(refused.value)
    assert "taken" not in capsys.readouterr().out


def test_answers_are_sent_without_delay():
    """Nagle's algorithm holds back small frames for up to 40 ms; asyncio turns it off on sockets it knows as TCP."""

    async def scenario():
        accepted = asyncio.get_running_loop().create_future()
        bound = server.listen("127.0.0.1", 18500)
        async with await asyncio.start_server(lambda _, writer: accepted.set_result(writer), sock=bound):
            _, ours = await asyncio.open_connection(*bound.getsockname())
            theirs = await accepted
            assert theirs.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            ours.close()
            theirs.close()

    asyncio.run(scenario())


def test_idle_connections_are_closed_and_block_no_others(served, monkeypatch):
    monkeypatch.setattr(server, "LONGEST_IDLE", 0.5)
    idle = [socket.create_connection(("127.0.0.1", served.port), timeout=10) for _ in range(300)]
    try:
        assert fetch(served.http + "/")[0] == 200
        assert all(one.recv(1) == b"" for one in idle)
    finally:
        for one in idle:
            one.close()


def test_the_server_starts_before_solvers_and_scenes_are_imported():
    """They take most of a second; a browser gets the page meanwhile."""
    program = "import sys, kinema.playground.server; print({'numba', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "set()\n"


def test_a_page_says_when_its_first_picture_is_drawn(served):
    async def scenario():
        page = await connect(served)
        assert not served.app.drawn.is_set()
        await page.send("drawn")
        await page.frame()
        assert await asyncio.to_thread(served.app.drawn.wait, 10)

    run(scenario)


def test_a_scene_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="planar"):
        server.play("juggling")


def test_the_last_state_of_a_scene_comes_after_the_page_has_left_it_and_nothing_of_it_stays(served):
    async def scenario():
        page = await connect(served)
        await page.frame()
        threads = threading.active_count()
        for n in range(12):
            before, after = ("planar", "lab") if n % 2 == 0 else ("lab", "planar")
            await page.input("set", name="wander", value=n % 3 == 0)
            await page.send("open", scene=after, still=True)
            state = (await page.message("state"))["state"]
            while state["scene"] != before or state.get("values", {}).get("wander") is not (n % 3 == 0):
                state = (await page.message("state"))["state"]
            while page.scene["scene"] != after:
                await page.message("scene")
            await page.frame()
        assert threading.active_count() <= threads + 1
        assert [connection._left for connection in served.app._connections.values()] == [[]]

    run(scenario)
