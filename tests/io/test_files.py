"""Loading and saving by content and by ending."""

import numpy as np
import pytest

import kinema as km
from tests.assets import asset

REAL = {"gltf/Fox.glb": (26, 3), "gltf/KayKit_Knight.glb": (57, 76), "bvh/cmu_02_01.bvh": (38, 1)}


@pytest.mark.parametrize("file", REAL)
def test_real_files_by_their_content(file):
    character = km.load(asset(file))
    assert (len(character.skeleton), len(character.clips)) == REAL[file]
    for clip in character.clips.values():
        assert np.isfinite(character.skeleton.world(clip.sample((0.0, clip.duration)))).all()


def test_the_ending_does_not_matter(tmp_path):
    path = tmp_path / "fox.bvh"
    path.write_bytes(asset("gltf/Fox.glb").read_bytes())
    assert len(km.load(path).skeleton) == 26


@pytest.mark.parametrize("content", [b"", b"   ", b"PNG", b"glT", b"HIER", bytes(2000)])
def test_what_is_neither(content, tmp_path):
    path = tmp_path / "a.glb"
    path.write_bytes(content)
    with pytest.raises(km.FileError, match=r"a\.glb: the file is neither glTF \(\.glb, \.gltf, \.vrm\) nor BVH"):
        km.load(path)
