"""The kernels of a frame as one CUDA graph.

To start a kernel with many arrays takes the host longer than a small crowd takes the GPU. The kernels of a frame are
the same from frame to frame while nothing but numbers in their arrays changes, so they are recorded once and started
together.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from numba import cuda

from kinema.solvers.gpu.cuda import SIMULATED

logger = logging.getLogger("kinema")


class FrameGraph:
    """Starts the kernels of a frame: recorded from the second time on that they are the same."""

    def __init__(self) -> None:
        self._key: Any = None
        self._graph: Any = None
        self._works = not SIMULATED

    def run(self, key: Any, launch: Callable[[Any], None]) -> None:
        """Start what `launch` starts on the stream it is given. key: equal while all of that is the same."""
        if self._graph is not None and key == self._key:
            _checked(_driver().cuGraphLaunch(self._graph, 0))
            return
        again = key == self._key
        self._key, self._graph = key, None
        if again and self._works:
            self._graph = self._recorded(launch)
        if self._graph is None:
            launch(0)
        else:
            _checked(_driver().cuGraphLaunch(self._graph, 0))

    def _recorded(self, launch: Callable[[Any], None]) -> Any:
        """Record the kernels. None where the driver's bindings are missing, or do not work as expected."""
        try:
            driver, stream = _driver(), cuda.stream()
            handle = driver.CUstream(int(stream.handle))
            _checked(driver.cuStreamBeginCapture(handle, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED))
            try:
                launch(stream)
            finally:
                graph = _checked(driver.cuStreamEndCapture(handle))
            return _checked(driver.cuGraphInstantiate(graph, 0))
        except Exception as problem:  # Whatever it is, kernels that are started one by one do the same.
            logger.info("kinema: frames on this GPU are not recorded as a graph: %s", problem)
            self._works = False
            return None


def _driver() -> Any:
    from cuda.bindings import driver

    return driver


def _checked(answer: tuple[Any, ...]) -> Any:
    """The result of a call of the driver. Raises RuntimeError for an error."""
    status, *found = answer
    if int(status) != 0:
        raise RuntimeError(f"CUDA driver: {status}")
    return found[0] if found else None
