"""Which joint is what: `find` makes a `Rig` for any skeleton; `Overrides` are the user's word over it."""

from kinema.roles.finder import find
from kinema.roles.overrides import Overrides, parse_override, read_overrides

__all__ = ["Overrides", "find", "parse_override", "read_overrides"]
