"""The peers, one a file."""

from __future__ import annotations

from kinema.bench.peers.base import Peer
from kinema.bench.peers.ikpy_peer import Ikpy
from kinema.bench.peers.mink_peer import Mink
from kinema.bench.peers.threejs_peer import ThreeJs


def chain_peers() -> list[Peer]:
    """Those who solve long chains."""
    return [ThreeJs(), Mink(), Ikpy()]
