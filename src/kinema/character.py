"""`Character`: a skeleton with its clips, its roles and its skins; what a file holds and an `Animator` plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kinema.errors import InputError
from kinema.rig import Rig
from kinema.skeleton import Skeleton
from kinema.skin import Skin

if TYPE_CHECKING:
    from kinema.clip import Clip


@dataclass(frozen=True, eq=False)
class Character:
    """A skeleton with all that belongs to it.

    clips: by name. rig: which joint is what. skins: its surfaces. source: the file it was loaded from, kept so that
    saving adds to it and loses nothing; None for a character made in code.
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
