"""Send points to a character as they arrive, and receive its poses as an avatar program would.

Run it as it is: a recorded walk stands for the detector, and a socket in this program for the avatar.
"""

import socket

import numpy as np

import kinema as km
from kinema.demo import humanoid
from kinema.fitting.stream import VmcSender

person = humanoid()
roles = {"left_shoulder": "upper_arm_l", "right_shoulder": "upper_arm_r", "left_hip": "thigh_l", "right_hip": "thigh_r"}
roles |= {"left_elbow": "forearm_l", "right_elbow": "forearm_r", "left_wrist": "hand_l", "right_wrist": "hand_r"}
roles |= {"left_knee": "shin_l", "right_knee": "shin_r", "left_ankle": "foot_l", "right_ankle": "foot_r"}
joints = [person.skeleton.index(name) for name in roles.values()]

avatar = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
avatar.bind(("127.0.0.1", 0))
avatar.settimeout(5.0)

fitter = km.Fitter(person, list(roles), lag=2)
rng = np.random.default_rng(0)
with VmcSender(person, port=avatar.getsockname()[1]) as sender:
    for frame in range(30):
        seconds = frame / 30
        seen = person.skeleton.world(person.clips["walk"].sample(seconds * 0.9))[joints, :3, 3]
        pose = fitter.update(seen + rng.normal(size=seen.shape) * 0.01, t=seconds)
        sender.send(pose, seconds)
        packet = avatar.recv(65536)
avatar.close()
print(f"{len(packet)} bytes, {packet.count(b'/VMC/Ext/Bone/Pos')} bones, {fitter.latency:.3f} s late")
