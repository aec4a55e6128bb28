"""Bridges to viewers: `show = viser.add(server, animator)`, then `show(frame)` in every frame.

Each module is one viewer: `mujoco`, `panda3d`, `pyglet`, `pyray`, `rerun`, `trimesh`, `viser`. They deform the
skins on the CPU and hand over one array of positions a frame, in the viewer's own axes.
"""
