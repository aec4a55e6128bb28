"""Files of points made in code; C3D by the format's manual, in any byte order, as integers or floats."""

import io
import struct

import numpy as np

import kinema as km

PROCESSORS = {"intel": 84, "dec": 85, "sgi": 86}


class C3D:
    """points: (T, K, 4), the fourth number is the residual; -1: missing. Positions are written as multiples of scale
    where integers are asked for.
    """

    def __init__(self, points, processor="intel", scale=-1.0, rate=100.0, analog=0, **parameters):
        self.points, self.processor, self.scale, self.rate = np.asarray(points, float), processor, scale, rate
        self.analog = analog
        labels = [f"M{i}" for i in range(self.points.shape[1])]
        self.parameters = {"LABELS": labels, "UNITS": ["mm"]} | parameters

    @property
    def order(self):
        return ">" if self.processor == "sgi" else "<"

    def integer(self, value):
        return struct.pack(self.order + "H", value & 0xFFFF)

    def floats(self, values):
        values = np.asarray(values, float)
        if self.processor != "dec":
            return values.astype(self.order + "f4").tobytes()
        halves = (values * 4.0).astype("<f4").view("<u2").reshape(-1, 2)
        return halves[:, ::-1].astype("<u2").tobytes()

    def parameter(self, name, group, value):
        if isinstance(value, list):
            width = max((len(word) for word in value), default=0)
            content = struct.pack("bBBB", -1, 2, width, len(value))
            content += "".join(word.ljust(width) for word in value).encode()
        elif isinstance(value, float):
            content = struct.pack("bB", 4, 0) + self.floats([value])
        else:
            words = value if isinstance(value, tuple) else (value,)
            content = struct.pack("bBB", 2, 1, len(words)) + b"".join(map(self.integer, words))
        content += b"\0"
        return struct.pack("bb", len(name), group) + name.encode() + self.integer(len(content) + 2) + content

    def data(self):
        rows = self.points
        if self.scale < 0:
            analog = np.ones((len(rows), self.analog))
            return self.floats(np.concatenate([rows.reshape(len(rows), -1), analog], 1).ravel())
        rows = np.concatenate([np.round(rows[..., :3] / self.scale), rows[..., 3:]], 2).reshape(len(rows), -1)
        return np.concatenate([rows, np.ones((len(rows), self.analog))], 1).astype(self.order + "i2").tobytes()

    def bytes(self):
        group = struct.pack("bb", 5, -1) + b"POINT" + self.integer(3) + b"\0"
        numbers = {"USED": self.points.shape[1], "SCALE": float(self.scale), "RATE": float(self.rate)}
        body = group + b"".join(self.parameter(name, 1, value) for name, value in (numbers | self.parameters).items())
        blocks = (4 + len(body) + 2) // 512 + 1
        start = 2 + blocks
        section = (bytes([1, 80, blocks, PROCESSORS[self.processor]]) + body).ljust(blocks * 512, b"\0")
        frames, count = self.points.shape[:2]
        words = [count, self.analog, 1, min(frames, 65_535), 0]
        head = b"\x02\x50" + b"".join(map(self.integer, words)) + self.floats([self.scale])
        head += self.integer(start) + self.integer(1) + self.floats([self.rate])
        return head.ljust(512, b"\0") + section + self.data()


TRC = """PathFileType\t4\t(X/Y/Z)\tsquat.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
60.00\t60.00\t2\t2\tmm\t60.00\t1\t2
Frame#\tTime\tLHEE\t\t\tRHEE\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

1\t0.000\t1\t2\t3\t4\t5\t6
2\t0.017\t7\t8\t9\t\t\t
"""


def archive(**arrays):
    """The bytes of a .npz file."""
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    return data.getvalue()


def read_or_refused(path):
    """The takes of a damaged file; none if it is refused with a message of bounded length."""
    try:
        return km.load_points(path)
    except km.FileError as problem:
        refused = str(problem)
    assert len(refused) < 600
    return ()
