"""`Character`: a skeleton with its clips, its roles and its skins; what a file holds and an `Animator` plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kinema.errors import InputError
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

if TYPE_CHECKING:
    from kinema.model.clip import Clip


@dataclass(frozen=True, eq=False)
class Character:
    """A skeleton with its clips, rig and skins.

    Parameters
    ----------
    skeleton
        The joints.
    clips
        Clips by name.
    rig
        The roles of the joints, None if they are unknown.
    skins
        The surfaces.
    name
        Name of the character.
    source
        The file that it was loaded from, so that saving adds to the file and loses nothing. None for a character made
        in code.

    Examples
    --------
    >>> person = km.load("person.glb")
    >>> "walk" in person.clips
    True
    """

    skeleton: Skeleton
    clips: dict[str, Clip] = field(default_factory=dict)
    rig: Rig | None = None
    skins: Sequence[Skin] = ()
    name: str = "character"
    source: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        clips = ", ".join(self.clips) if self.clips else "no clips"
        rig = "no rig" if self.rig is None else f"rig with {len(self.rig.legs)} legs and {len(self.rig.arms)} arms"
        return f"Character({self.name!r}, {len(self.skeleton)} joints, {clips}, {rig})"

    def __post_init__(self) -> None:
        if not isinstance(self.skeleton, Skeleton):
            raise InputError(f"skeleton must be a Skeleton, got {type(self.skeleton).__name__}")
        if self.rig is not None and self.rig.skeleton.names != self.skeleton.names:
            raise InputError(f"rig is made for another skeleton: {self.rig.skeleton}, not {self.skeleton}")
