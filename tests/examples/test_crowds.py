"""The examples for crowds: in how many parts a crowd is does not show, and what is drawn is a crowd."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    """An example as a module that can be found again by its name, as Dask's workers do."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow_uncompiled
def test_a_crowd_on_two_workers_walks_as_on_one():
    distributed = pytest.importorskip("distributed")
    workers = example("crowd_on_workers")
    found = []
    for count in (1, 2):
        options = {"n_workers": count, "processes": False, "threads_per_worker": 1, "dashboard_address": None}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            found.append(workers.walk_on(client, 21, 4))
    np.testing.assert_array_equal(*found)
    assert np.ptp(found[0][:, 2]) > 50.0  # They stand all over the place.


@pytest.mark.slow_uncompiled
def test_a_picture_of_a_crowd(capsys):
    pytest.importorskip("moderngl")
    film = example("crowd_film")
    try:
        (picture,) = film.pictures(400, 1)
    except Exception as problem:  # Whatever moderngl raises where EGL has no driver.
        pytest.skip(f"no OpenGL without a window: {problem}")
    assert picture.shape == (film.SIZE[1], film.SIZE[0], 3)
    land = picture[-60:].astype(int)
    assert (land[..., 1] > land[..., 2]).mean() > 0.7  # Green below,
    assert np.abs(picture[:20].astype(int) - 255 * np.sqrt(film.SKY)).max() < 3.0  # sky above,
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 1000  # and people in all colours.


def test_boxes_face_outwards():
    film = example("crowd_film")
    person = film.humanoid()
    vertices, triangles = film.boxes(person.skeleton, int(person.rig.head))
    at = vertices["position"].astype(float)
    for box in range(len(vertices) // 24):
        mine = slice(24 * box, 24 * box + 24)
        outwards = at[mine] - at[mine].mean(axis=0)
        assert (np.einsum("nc,nc->n", outwards, vertices["normal"][mine]) > 0.0).all()
    assert triangles.max() == len(vertices) - 1
