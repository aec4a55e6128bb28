"""A character that walks and looks around in Python, drawn by three.js: its poses come over a WebSocket.

Needs `pip install "kinema[play]"`, and `npm install three` in this folder. Run it and open http://127.0.0.1:8800.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.responses import FileResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

import kinema as km
from kinema.demo import course, humanoid

HERE, PERSON, FILE = Path(__file__).parent, humanoid(), Path(tempfile.mkdtemp()) / "person.glb"
PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8800
THREE = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "node_modules" / "three"


async def poses(socket: WebSocket) -> None:
    """Send the names of the joints, then for every frame 7 numbers for the character and 7 for each joint."""
    await socket.accept()
    stages = [km.Play("walk", root_motion="extract", root="root"), km.Feet(), km.Head(), km.Eyes()]
    animator = km.Animator(PERSON, stages, ground=course())
    await socket.send_json(PERSON.skeleton.names)
    try:
        while True:
            looked_at = await socket.receive_json()  # The page asks for each frame and says where its pointer is.
            animator.look_at(looked_at)
            frame = animator.update(1 / 60)
            here = np.concatenate((frame.transform[:3, 3], km.quat.from_matrix(frame.transform[:3, :3])))
            joints = np.concatenate((frame.pose.translations, frame.pose.rotations), axis=1)
            await socket.send_bytes(np.vstack((here, joints)).astype("<f4").tobytes())
    except WebSocketDisconnect:
        pass  # The page was closed.


def main() -> None:
    km.save(FILE, PERSON)
    routes = [Route("/", lambda request: FileResponse(HERE / "page.html")), WebSocketRoute("/poses", poses)]
    routes += [Route("/person.glb", lambda request: FileResponse(FILE))]
    app = Starlette(routes=[*routes, Mount("/three", StaticFiles(directory=THREE))])
    asyncio.run(uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=PORT, log_level="warning")).serve())


if __name__ == "__main__":
    main()
