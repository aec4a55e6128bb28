"""Rays of feet on the GPU hit what rays on the CPU hit, and their hits are stored where feet look for them."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

import kinema as km
from kinema.errors import DeviceError
from kinema.stages.device import ground_casting
from kinema.stages.device.ground_casting import MEETS, DeviceGround, caster, device_ground, list_rays, shape_of
from kinema.stages.feet.foot_rays import RAYS, take_hits
from kinema.stages.legs.ground_contact import HIT, PLANTED, SWINGING
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import a_body, a_foot, a_sole

RNG = np.random.default_rng(5)
ALONG = np.arange(30)
GROUNDS = {
    "plane": km.Plane((0.0, 0.1, 0.0), (0.2, 1.0, -0.1)),
    "mesh": km.TriangleMesh(
        [(-7.0, 0.2, -7.0), (7.0, -0.1, -6.0), (0.0, 0.4, 7.0), (6.0, 0.3, 6.5), (-6.0, 0.1, 6.0)],
        [(0, 2, 1), (1, 2, 3), (0, 4, 2), (0, 1, 2)],
        accelerator="kernel",
    ),
    "nothing": km.TriangleMesh(np.zeros((0, 3)), np.zeros((0, 3), int), accelerator="kernel"),
    "field": km.HeightField(0.2 * np.sin(0.4 * ALONG[:, None]) * np.cos(0.3 * ALONG), (-7.0, -7.0), 0.5),
}


def test_other_grounds_are_refused_by_name():
    message = "feet on a GPU do not stand on Sphere; allowed are Plane, HeightField, TriangleMesh and"
    with pytest.raises(DeviceError, match=message):
        device_ground(km.Sphere((0.0, 0.0, 0.0), 1.0), 2.0)


@pytest.fixture
def plain_meets(monkeypatch):
    """The kernels of grounds as plain Python functions, with local memory from NumPy."""
    local = SimpleNamespace(array=lambda size, kind: np.zeros(size, np.dtype(str(kind))))
    monkeypatch.setattr(ground_casting, "cuda", SimpleNamespace(local=local))
    monkeypatch.setitem(MEETS, km.TriangleMesh, ground_casting.meet_mesh.py_func)


@plain_python_only
@pytest.mark.parametrize("name", GROUNDS)
def test_hits_are_those_of_the_cpu(name, plain_meets):
    ground, count = GROUNDS[name], 20
    origins = RNG.uniform((-8.0, 1.0, -8.0), (8.0, 1.2, 8.0), (count, 3))
    origins[3] = np.nan
    down = (0.1, -1.0, 0.05)
    slots, hits = RNG.permutation(count), HIT.zeros(count, np.float64)
    assert type(ground) in MEETS
    cast = caster.__wrapped__(type(ground))
    cast(down, origins, slots, hits, DeviceGround(shape_of(ground), 3.0, 1e30))
    expected = ground.cast(np.nan_to_num(origins), down, 3.0)
    found = hits[slots]
    there = expected.hit & np.isfinite(origins[:, 0])
    np.testing.assert_array_equal(found.found, there)
    np.testing.assert_allclose(found.point[there], expected.point[there], atol=1e-12)
    np.testing.assert_allclose(found.normal[there], expected.normal[there], atol=1e-12)


@plain_python_only
@pytest.mark.parametrize("contacts", [(PLANTED, SWINGING), (SWINGING, PLANTED), (PLANTED, PLANTED)])
def test_hits_are_stored_where_those_of_the_cpu_are(contacts):
    """Ray n of the GPU goes to the slot to which the CPU takes answer n."""
    feet = np.empty((1, 2), object)
    for leg, contact in enumerate(contacts):
        feet[0, leg] = a_foot(contact)
        feet[0, leg].rays.due = True
        feet[0, leg].rays.ahead = feet[0, leg].rays.at_landing = contact == SWINGING
    body = a_body()
    body.first_ray = 0
    records = SimpleNamespace(soles=np.array([a_sole(), a_sole()]), feet=feet, bodies=[body])
    size, slots = 2 * RAYS + 1, [2 * RAYS]
    order = (0, 1) if contacts[0] == SWINGING or contacts[1] == PLANTED else (1, 0)
    for leg in order:
        own = np.full(RAYS, -1)
        count = list_rays(feet[0, leg], own)
        slots += (leg * RAYS + own[:count]).tolist()
    answers = SimpleNamespace(
        hit=np.ones(size, bool),
        point=np.column_stack((np.arange(size) + 1.0, np.zeros(size), np.zeros(size))),
        normal=np.tile((0.0, 1.0, 0.0), (size, 1)),
        distance=np.ones(size),
    )
    hits = HIT.zeros(size, np.float64)
    take_hits(records, 0, hits, answers, 1e300)
    assert hits.point[slots, 0].tolist() == (np.arange(len(slots)) + 1.0).tolist()
    assert hits.found.sum() == len(slots)
