"""A worker that is killed by some files, as the system does when memory runs out. Its processes import little."""

import os
import signal

from kinema.jobs.order import Outcome


def dying(data, name, kind):
    if name == "b.glb":
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(data, {"file": name, "status": "baked"})
