"""Takes of one skeleton have one sole."""

from dataclasses import replace

import numpy as np
import pytest

from kinema.bake import BakeSettings
from kinema.bake.job import BakeOrder
from kinema.demo import humanoid
from kinema.io import files
from kinema.roles.shared_soles import share, signature, with_shared
from tests.assets import asset

TAKES = ("dataset-1_bye_active_001", "dataset-1_run_proud_001", "dataset-1_walk_musical_001")


def test_takes_of_one_skeleton_have_one_signature_wherever_they_begin():
    skeletons = [files.load(asset(f"bvh/bandai/{take}.bvh"), rig=False).skeleton for take in TAKES]
    assert len({signature(skeleton) for skeleton in skeletons}) == 1
    others = [files.load(asset(f"bvh/{name}.bvh"), rig=False).skeleton for name in ("cmu_02_01", "cmu/cmu_141_01")]
    assert len({signature(skeleton) for skeleton in (*skeletons, *others)}) == 3


def test_the_middle_of_what_takes_show_counts_and_the_ground_stays_below_the_feet():
    rig = humanoid().rig
    takes = [
        replace(
            rig,
            legs=[replace(leg, sole=leg.sole + more, toe_sole=leg.toe_sole + more) for leg in rig.legs],
            floor=rig.floor - more,
        )
        for more in (-0.01, 0.0, 0.03)
    ]
    soles = share(takes)
    for take in takes:
        shared = with_shared(take, soles)
        assert shared.floor == pytest.approx(rig.floor)
        for leg, truth in zip(shared.legs, rig.legs, strict=True):
            assert (leg.sole, leg.toe_sole) == pytest.approx((truth.sole, truth.toe_sole))
    assert with_shared(rig, {}) is rig


def test_bakes_of_a_folder_share_the_soles_of_its_takes():
    given = [(f"{take}.bvh", asset(f"bvh/bandai/{take}.bvh").read_bytes()) for take in TAKES]
    order = BakeOrder(settings=BakeSettings(lock_feet=True)).informed([*given, ("broken.bvh", b"nothing")])
    (soles,) = order.soles.values()
    rigs = [with_shared(files.load_bytes(data, name).rig, order.soles) for name, data in given]
    for rig in rigs:
        for leg in rig.legs:
            assert (leg.sole, leg.toe_sole) == pytest.approx(soles[leg.name])
            assert np.array(soles[leg.name]) / rig.leg_length == pytest.approx((0.147, 0.053), abs=0.003)
