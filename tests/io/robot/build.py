"""Robots made in code."""

LIFT = """<?xml version="1.0"?>
<robot name="lift">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><visual><origin xyz="0 0 0.1"/><geometry><box size="0.4 0.2 0.2"/></geometry><material name="red"/></visual></link>
  <link name="mast"><visual><geometry><cylinder radius="0.05" length="1"/></geometry></visual></link>
  <link name="arm"><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
  <link name="left"/><link name="right"/><link name="camera"/>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="mast"/><origin xyz="0.1 0 0.5" rpy="0.3 -0.2 1.1"/>
    <axis xyz="0 0 2"/><limit lower="-0.1" upper="0.6" velocity="0.5" effort="10"/></joint>
  <joint name="swing" type="continuous"><parent link="mast"/><child link="arm"/><origin xyz="0 0.2 0"/><axis xyz="1 1 0"/></joint>
  <joint name="grip" type="prismatic"><parent link="arm"/><child link="left"/><axis xyz="0 1 0"/><limit lower="0" upper="0.1"/></joint>
  <joint name="grip_too" type="prismatic"><parent link="arm"/><child link="right"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.1"/><mimic joint="grip" multiplier="2" offset="0.01"/></joint>
  <joint name="mount" type="fixed"><parent link="arm"/><child link="camera"/><origin xyz="0 0 0.3"/></joint>
</robot>"""  # noqa: E501

CRANE = """<mujoco model="crane"><compiler angle="{angle}" eulerseq="{order}"/>
<default><joint damping="1"/><default class="arm"><joint type="hinge" axis="0 1 0" range="{range}"/>
  <geom type="capsule" size="0.03"/></default></default>
<worldbody><light pos="0 0 3"/><geom type="plane" size="3 3 .1"/>
<body name="cart" pos="0 0 0.5" euler="{euler}"><joint name="rail" type="slide" axis="1 0 0" range="-1 1"/>
 <joint name="spin" axis="0 0 1" pos="0.1 0.05 0"/><geom type="box" size=".2 .1 .05" group="1"/>
 <geom size="9" group="3"/>
 <body name="arm1" childclass="arm" pos="0 0 .1" quat="0.9 0.1 0.2 0.3">
  <joint name="shoulder" ref="{ref}" pos="0 0 .02"/>
  <joint name="roll" axis="1 0 0"/><geom fromto="0 0 0 0 0 .5"/>
  <body name="arm2" pos="0 0 .5" zaxis="0 1 1"><joint name="elbow"/><geom fromto="0 0 0 0 0 .4"/>
   <frame pos="0 0 .4" quat="1 2 0 0"><body name="tool" pos="0.1 0 0" xyaxes="0 1 0 -1 0 0">
     <joint type="slide" name="grip" axis="0 0 1" range="0 .1"/><geom type="sphere" size=".05"/></body></frame>
  </body></body></body>
<body name="box" pos="2 0 1" axisangle="1 1 0 {euler1}"><freejoint/><geom type="ellipsoid" size=".1 .2 .3"/>
  <body name="wrist" pos="0 0 .3"><joint type="ball" range="0 {ref}"/><geom size=".04"/></body></body>
</worldbody>
<equality><joint joint1="elbow" joint2="shoulder" polycoef="0.1 0.5 0 0 0"/></equality></mujoco>"""

DEGREES = {"angle": "degree", "range": "-90 120", "euler": "10 20 30", "ref": "20", "euler1": "40"}
