"""Our own characters, with skeleton, rig, skin and clips: a person, a fox and a spider.

Each character is a table, read by `sheet`, and a module: its measures (`quadruped.toml`), its clips and its body
(`quadruped`; the person has its body in `humanoid_body`). They are built from

- `bones`: bones as an artist lays them out, and the skeleton they make,
- `blobs`, `shells` and `skins`: rounded solids, their surfaces, and skin weights,
- `gait` and `puppet`: foot paths and waves over a cycle, and poses made of rotations about the character's axes.
"""
