"""Characters made in code, with skeleton, rig, skin and clips: a person, a fox and a spider.

Each character has three modules: its bones and rig (`humanoid`), its body (`humanoid_body`) and its clips
(`humanoid_moves`). They are built from

- `bones`: bones as an artist lays them out, and the skeleton they make,
- `blobs` and `skins`: rounded solids, their common surface, and skin weights,
- `gait` and `puppet`: foot paths and waves over a cycle, and poses made of rotations about the character's axes.
"""
