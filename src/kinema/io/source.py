"""`Source`: what a character keeps of the file it was loaded from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinema.model.skeleton import Skeleton


@dataclass(eq=False, kw_only=True)
class Source:
    """A file as its format keeps it: the base of what `Character.source` holds."""

    humanoid: dict[str, int] = field(default_factory=dict)
    """{bone: joint} by the file's own table of bones, by the names of VRM 1. The search for roles starts from it."""
    directions: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    """Up and forward, where the format says what they are; None: they are found."""
    metric: bool = False
    """Whether lengths were converted to metres and up to +y, by what the file says of them."""
    in_metres: bool = False
    """Whether the format itself has lengths in metres."""
    problems: list[str] = field(default_factory=list)
    """What is unusual or was ignored, as sentences."""

    def bones(self, skeleton: Skeleton) -> list[int] | None:
        """Return the joints that are bones, for formats that hold nothing else; None: all of them."""
        return None
