"""The peers, one a file."""

from __future__ import annotations

from benchmarks.peers.base import Peer
from benchmarks.peers.ikpy_peer import Ikpy
from benchmarks.peers.mink_peer import Mink
from benchmarks.peers.threejs_peer import ThreeJs


def chain_peers() -> list[Peer]:
    """Those who solve long chains."""
    return [ThreeJs(), Mink(), Ikpy()]
