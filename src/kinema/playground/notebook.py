"""Show the playground in a notebook cell: a server in this process, and a frame with its page."""

from __future__ import annotations

import threading

from kinema.demo.scenes.registry import kind_of
from kinema.playground.requirements import require

HOST = "127.0.0.1"


class Cell:
    """The output of a notebook cell. `address` is the page's; `close` stops its server.

    The page is served on this machine alone. In a notebook that runs elsewhere the frame stays empty until you forward
    the port; the line below the frame says how.
    """

    def __init__(self, scene: str, height: int, port: int | None) -> None:
        from kinema.playground import server  # Needs the extra `play`.

        app = server.App(HOST, server.page())
        bound = server.listen(HOST, port)
        self._port = bound.getsockname()[1]
        self.address = f"http://{HOST}:{self._port}/#{scene}"
        self._height = height
        self._server = server.Server(server.settings(app))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [bound]}, daemon=True)
        self._thread.start()

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks display."""
        style = f"width:100%;height:{self._height}px;border:0;border-radius:12px"
        forward = f"ssh -L {self._port}:{HOST}:{self._port} user@host"
        return (
            f'<iframe src="{self.address}" style="{style}" allow="clipboard-write"></iframe>'
            f'<p><a href="{self.address}" target="_blank">Open in a tab</a>. If the frame stays empty, the '
            f"notebook runs on another machine: forward the port with <code>{forward}</code>, then reload the page.</p>"
        )

    def __repr__(self) -> str:
        return f"Cell({self.address})"

    def close(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()


def play(scene: str = "character", *, height: int = 640, port: int | None = None) -> Cell:
    """Show the playground in a notebook cell, opened at a scene.

    The server lives as long as this process, or until `close` is called. Only this machine can open its page: where
    the notebook runs on another one, forward the port as the line below the frame says. Needs the extra `play`.

    Parameters
    ----------
    scene
        Name of a scene, as `kinema play --help` lists them.
    height
        Height of the cell, pixels.
    port
        Port on the loopback interface. None takes the next free one.

    Returns
    -------
    Cell
        What the notebook displays; `close` ends the server.

    Raises
    ------
    InputError
        If there is no such scene.
    MissingPackageError
        If the extra `play` is not installed.

    Examples
    --------
    >>> cell = km.play("arm")  # doctest: +SKIP
    >>> cell.close()  # doctest: +SKIP
    """
    kind_of(scene)
    require()
    return Cell(scene, int(height), port)
