"""A small GIF decoder, written from the standard, to see what others would."""

import struct
from typing import NamedTuple

import numpy as np


def unpacked(data, bits=8):
    """LZW, a bit at a time."""
    clear, end = 1 << bits, (1 << bits) + 1
    table, width, at, before, out = {}, bits + 1, 0, None, bytearray()
    stream = int.from_bytes(data, "little")
    while True:
        code = (stream >> at) & ((1 << width) - 1)
        at += width
        if code == clear:
            table, width, before = {i: bytes((i,)) for i in range(clear)}, bits + 1, None
            table[clear] = table[end] = b""
            continue
        if code == end:
            return bytes(out), at
        string = table[code] if code in table else before + before[:1]
        out += string
        if before is not None and len(table) < 4096:
            table[len(table)] = before + string[:1]
            if len(table) == 1 << width and width < 12:
                width += 1
        before = string


class Shown(NamedTuple):
    frames: list
    delays: list
    endless: bool
    sizes: list


def blocks(data, at):
    body = b""
    while data[at]:
        body += data[at + 1 : at + 1 + data[at]]
        at += 1 + data[at]
    return body, at + 1


def decoded(data):
    assert data[:6] == b"GIF89a" and data[-1] == 0x3B
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    colours = np.frombuffer(data, np.uint8, 3 << ((flags & 7) + 1), 13).reshape(-1, 3)
    at, screen, shown = 13 + colours.size, np.zeros((height, width, 3), np.uint8), Shown([], [], False, [])
    while data[at] != 0x3B:
        if data[at] == 0x21:
            label, (body, at) = data[at + 1], blocks(data, at + 2)
            if label == 0xFF:
                shown = shown._replace(endless=body == b"NETSCAPE2.0\x01\x00\x00")
            else:
                packed, delay, transparent = struct.unpack("<BHB", body)
                assert packed >> 2 == 1  # Left in place when the next one comes.
        else:
            x, y, w, h, local = struct.unpack_from("<HHHHB", data, at + 1)
            assert not local and x + w <= width and y + h <= height
            body, at = blocks(data, at + 11)
            indices = np.frombuffer(unpacked(body)[0], np.uint8).reshape(h, w)
            seen = (indices != transparent) if packed & 1 else np.ones((h, w), bool)
            screen[y : y + h, x : x + w][seen] = colours[indices[seen]]
            shown.frames.append(screen.copy())
            shown.delays.append(delay)
            shown.sizes.append(w * h)
    return shown
