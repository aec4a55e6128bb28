"""Random numbers without state: a function of a seed, a character's id and a counter.

A character of a crowd draws the same numbers as on its own, on any thread and on any device.
"""

from kinema.compile.jit import kernel, like

_BITS = 0xFFFFFFFF


@kernel
def scrambled(x):
    """Mix 32 bits so that each output bit depends on all of x. Factors below 2^31 keep products within 63 bits."""
    x = ((x ^ (x >> 15)) * 0x6C8E9CF5) & _BITS
    x = ((x ^ (x >> 13)) * 0x5A2D3C1B) & _BITS
    x = ((x ^ (x >> 16)) * 0x38495AB5) & _BITS
    return x ^ (x >> 15)


@kernel
def uniform(one, seed, id, count):
    """Draw from [0, 1), in the precision of `one`. seed, id, count: integers of 32 bits each."""
    bits = scrambled((seed & _BITS) ^ 0x1F123BB5)
    bits = scrambled(bits ^ (id & _BITS))
    bits = scrambled(bits ^ (count & _BITS))
    # 24 bits fit float32 exactly: both precisions draw the same numbers, and none is rounded up to 1.
    return like(one, bits >> 8) * like(one, 1.0 / 16777216.0)


@kernel
def between(low, high, seed, id, count):
    """Draw from [low, high)."""
    return low + (high - low) * uniform(low, seed, id, count)
