"""Characters, terrain and playground scenes made in code. Tests, benchmarks and the playground share them.

    from kinema.demo import humanoid, stairs

Characters: `humanoid`, `quadruped` (a fox), `spider`; each has a skeleton, rig, skin and the clips "idle", "walk" and
"run". Their travelling joint is "root": name it to extract root motion, because in "idle" it stands still.

Terrain: `slope`, `stairs`, `rocks`, `course`, `voxels`.
"""

from kinema.demo.characters.humanoid import humanoid
from kinema.demo.characters.quadruped import quadruped
from kinema.demo.characters.spider import spider
from kinema.demo.terrain import course, rocks, slope, stairs, voxels
from kinema.world.terrain import Terrain

__all__ = ["Terrain", "course", "humanoid", "quadruped", "rocks", "slope", "spider", "stairs", "voxels"]
