"""`Character`: a skeleton with its clips, its roles and its skins; what a file holds and an `Animator` plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kinema import validation
from kinema.errors import InputError, UnknownNameError, suggestion
from kinema.model.clip import Clip
from kinema.model.constraints import Constraint
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from kinema.model.springs import Spring


class Clips(dict[str, Clip]):
    """Clips by name. Asking for an unknown name says which there are."""

    def __missing__(self, name: object) -> Clip:
        hint = suggestion(str(name), self) if self else "the character has none"
        raise UnknownNameError(f"there is no clip {name!r:.60}; {hint}")


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
    springs
        Chains that swing, which the stage `Springs` moves.
    constraints
        Joints that follow others, which the stage `Constraints` rotates.
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
    springs: Sequence[Spring] = ()
    constraints: Sequence[Constraint] = ()

    def __repr__(self) -> str:
        clips = ", ".join(self.clips) or "no clips"
        rig = "no rig" if self.rig is None else f"rig with {len(self.rig.legs)} legs and {len(self.rig.arms)} arms"
        return f"Character({self.name!r}, {len(self.skeleton)} joints, {clips}, {rig})"

    def __post_init__(self) -> None:
        validation.instance("skeleton", self.skeleton, Skeleton)
        clips = Clips(validation.mapping("clips", self.clips, "clips by name"))
        for name, clip in clips.items():
            if not isinstance(name, str):
                raise InputError(f"clips has the name {name!r:.60}; allowed are strings")
            validation.instance(f"clips[{name!r}]", clip, Clip)
        object.__setattr__(self, "clips", clips)
        for kind, things in (("springs", self.springs), ("constraints", self.constraints)):
            object.__setattr__(self, kind, validation.sequence(kind, things, kind))
        if self.rig is not None:
            validation.instance("rig", self.rig, Rig)
            if self.rig.skeleton.names != self.skeleton.names:
                raise InputError(f"rig is made for another skeleton: {self.rig.skeleton}, not {self.skeleton}")


def chosen_clip(character: Character, clip: Clip | str) -> Clip:
    """Return a clip of a character, given by name or itself. Raise InputError for one of another skeleton."""
    validation.instance("clip", clip, Clip, str)
    clip = character.clips[clip] if isinstance(clip, str) else clip
    if clip.skeleton is not character.skeleton and clip.skeleton.names != character.skeleton.names:
        made, own = clip.skeleton, character.skeleton
        raise InputError(f"clip {clip.name!r} is made for another skeleton: {made}, not {own}")
    return clip
