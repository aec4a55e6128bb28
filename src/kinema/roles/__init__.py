"""Roles of joints: `find` makes a `Rig` for any skeleton; `Overrides` replace the roles that were found."""

from kinema.roles.bends import Pole, poles
from kinema.roles.finder import find
from kinema.roles.handles import handles, take_along, with_rotated_ends
from kinema.roles.limits import with_limits
from kinema.roles.overrides import Overrides, parse_override, read_overrides
from kinema.roles.unit import Unit, unit

__all__ = [
    "Overrides",
    "Pole",
    "Unit",
    "find",
    "handles",
    "parse_override",
    "poles",
    "read_overrides",
    "take_along",
    "unit",
    "with_limits",
    "with_rotated_ends",
]
