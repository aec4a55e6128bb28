"""The planar scene as a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

DECIMALS = 3
"""Of a pixel."""


def script(chains: Any, values: Mapping[str, Any], rope: Any) -> str:
    """The script that solves these chains and fills `joints` with every chain's, in their order."""
    parts = ['"""Limbs in the plane. Pixels, y down: `joints` holds every chain, root to end."""', ""]
    parts += ["import numpy as np", "", "import kinema as km", "", f"joints = [None] * {len(chains)}"]
    limbs = [i for i, chain in enumerate(chains) if len(chain.lengths) == 2]
    if limbs:
        parts += _limbs([chains[i] for i in limbs], limbs, values["mirror"])
    for i, chain in enumerate(chains):
        if len(chain.lengths) > 2:
            parts += _long(i, chain, values["solver"])
    if rope:
        parts += [
            "",
            "# A rope: each link has its length, both ends are where they are held.",
            _rows("links", rope.joints),
        ]
        parts += [f"rope = km.fabrik(links, target={_numbers(rope.end)}).joints"]
    parts += ["", "for i, chain in enumerate(joints):", '    print(f"chain {i}:", np.round(chain, 2).tolist())', ""]
    return "\n".join(parts)


def _limbs(limbs: Any, indices: list[int], mirror: bool) -> list[str]:
    return [
        "",
        "# Two bones: the law of cosines, all limbs in one call.",
        _rows("roots", [chain.root for chain in limbs]),
        _rows("targets", [chain.target for chain in limbs]),
        _rows("lengths", [chain.lengths for chain in limbs]),
        f"limbs = km.two_bone_2d(roots, targets, lengths, auto_bend={mirror})",
        f"for row, i in enumerate({indices}):",
        "    joints[i] = np.array([roots[row], limbs.knee[row], limbs.end[row]])",
    ]


def _long(i: int, chain: Any, solver: str) -> list[str]:
    call = f"km.{solver}(start, target={_numbers(chain.target)}"
    call += ", steps=0)" if solver == "compensating" else ")"
    return ["", f"# {len(chain.lengths)} bones.", _rows("start", chain.joints), f"joints[{i}] = {call}.joints"]


def _rows(name: str, rows: Any) -> str:
    lines = "".join(f"    {_numbers(row)},\n" for row in rows)
    return f"{name} = np.array([\n{lines}])"


def _numbers(values: Any) -> str:
    return "(" + ", ".join(f"{x:g}" for x in np.round(np.asarray(values, float), DECIMALS).tolist()) + ")"
