"""`Character`: clips by name, and what fits together."""

import pytest

import kinema as km
from kinema.demo import humanoid, quadruped
from kinema.errors import InputError


def test_an_unknown_clip_names_those_there_are():
    person = humanoid()
    name = next(iter(person.clips))
    for kind in (KeyError, InputError):
        with pytest.raises(kind, match=f"there is no clip '{name}x'; did you mean '{name}'"):
            person.clips[name + "x"]
    with pytest.raises(InputError, match="there is no clip 'Walk'; the character has none"):
        km.Character(person.skeleton).clips["Walk"]
    assert "Walk" not in km.Character(person.skeleton).clips
    assert km.Character(person.skeleton).clips.get("Walk") is None


def test_clips_can_be_added():
    person = humanoid()
    character = km.Character(person.skeleton)
    clip = next(iter(person.clips.values()))
    character.clips["new"] = clip
    assert character.clips["new"] is clip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clips": [1]}, r"clips must be a dict of clips by name, got \[1\]"),
        ({"clips": {1: None}}, "clips has the name 1; allowed are strings"),
        ({"clips": {"walk": 3}}, r"clips\['walk'\] must be a Clip, got int"),
        ({"rig": 3}, "rig must be a Rig, got int"),
        ({"skeleton": None}, "skeleton must be a Skeleton, got NoneType"),
        ({"rig": quadruped().rig}, "rig is made for another skeleton"),
    ],
)
def test_what_does_not_fit_is_named(change, message):
    with pytest.raises(InputError, match=message):
        km.Character(**({"skeleton": humanoid().skeleton} | change))
