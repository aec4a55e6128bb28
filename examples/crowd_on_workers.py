"""A crowd in parts, one for each Dask worker: on a GPU of its own where the worker has one, else on its CPU.

    pip install "kinema[cuda]" distributed
    python examples/crowd_on_workers.py                                       # Two workers in this process.
    python examples/crowd_on_workers.py --scheduler tcp://10.0.0.1:8786       # Those of a cluster.

Characters do not know of each other, so each worker has some of them, by their index. Where they stand, the phases of
their clips and the ids of their glances go with the index: in how many parts the crowd is does not show. Palettes stay
where they were made, for what draws or learns there; only what you ask for crosses the network.
"""

import argparse
import sys

import numpy as np

import kinema as km
from kinema.demo import humanoid

FPS = 60


class CrowdPart:
    """Characters `first` to `last - 1` of a crowd of `count`: an actor, which lives on a worker."""

    def __init__(self, first: int, last: int, count: int) -> None:
        draw = np.random.default_rng(0)  # All parts draw for everyone, and take their own.
        where = draw.uniform((-50.0, 0.0, -50.0), (50.0, 0.0, 50.0), (count, 3)).astype(np.float32)[first:last]
        phases = draw.uniform(0.0, 1.0, count)[first:last]
        stages = [km.Play("walk", root_motion="extract", time=phases), km.Feet(), km.Head(), km.Eyes()]
        along = np.arange(80)
        hills = km.HeightField(0.2 * np.sin(0.4 * along[:, None]) * np.cos(0.3 * along), (-80.0, -80.0), 2.0)
        try:
            self.crowd = km.Animator(humanoid(), stages, ground=hills, count=last - first, device="cuda")
            self.device = "GPU"
        except km.DeviceError:
            self.crowd = km.Animator(humanoid(), stages, ground=hills, count=last - first)
            self.device = "CPU"
        self.crowd["eyes"].ids[:] = np.arange(first, last)
        self.crowd.set_transform(where)
        self.crowd.look_at(where + np.float32((1.0, 1.5, 8.0)))

    def on(self) -> str:
        """Where this part is animated."""
        return self.device

    def walk(self, frames: int) -> np.ndarray:
        """Make so many frames. Returns where the characters stand then, (n, 3)."""
        for _ in range(frames):
            frame = self.crowd.update(1 / FPS)
        transform = frame.transform
        return np.asarray(transform.copy_to_host() if hasattr(transform, "copy_to_host") else transform)[:, :3, 3]


def walk_on(client, count: int, frames: int) -> np.ndarray:
    """Walk a crowd that is split over the workers of a client. Returns where everyone stands, (count, 3)."""
    workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
    bounds = np.linspace(0, count, len(workers) + 1).astype(int).tolist()
    parts = [
        client.submit(CrowdPart, first, last, count, actor=True, workers=[worker], allow_other_workers=False)
        for worker, first, last in zip(workers, bounds, bounds[1:], strict=False)
        if last > first
    ]
    actors = [part.result() for part in parts]
    walks = [actor.walk(frames) for actor in actors]  # All of them at once.
    print(", ".join(f"a part on a {actor.on().result()}" for actor in actors))
    return np.concatenate([walk.result() for walk in walks])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scheduler", help="address of a cluster; without it, workers in this process")
    parser.add_argument("--workers", type=int, default=2, help="workers in this process; default 2")
    parser.add_argument("--count", type=int, default=1000, help="characters; default 1000")
    parser.add_argument("--frames", type=int, default=60, help="frames; default 60")
    options = parser.parse_args()
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        sys.exit("this example needs distributed: pip install distributed")
    if options.scheduler:
        with Client(options.scheduler) as client:
            where = walk_on(client, options.count, options.frames)
    else:
        settings = {"processes": False, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(n_workers=options.workers, **settings) as cluster, Client(cluster) as client:
            where = walk_on(client, options.count, options.frames)
    print(
        f"{len(where):,} characters, {options.frames} frames; in the middle they stand at {where.mean(axis=0).round(2)}"
    )


if __name__ == "__main__":
    main()
