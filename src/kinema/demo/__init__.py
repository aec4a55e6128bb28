"""Generated characters and ground, all in code: what tests, benchmarks and the playground share.

The joint that travels is "root" in every character. Who takes the travel out of clips should name it: in "idle" it
stands still, and the highest joint that moves is the one that sways.
"""

from kinema.demo.characters.humanoid import humanoid
from kinema.demo.characters.quadruped import quadruped
from kinema.demo.characters.spider import spider
from kinema.demo.terrain import course, rocks, slope, stairs, voxels
from kinema.world.terrain import Terrain

__all__ = ["Terrain", "course", "humanoid", "quadruped", "rocks", "slope", "spider", "stairs", "voxels"]
