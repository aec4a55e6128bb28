"""Random numbers as a function: of a seed, of who asks, and of how often they asked. No state, so a character of a
crowd draws what it would draw alone, on any thread and on any device.
"""

from kinema._jit import kernel, like

_BITS = 0xFFFFFFFF


@kernel
def scrambled(x):
    """32 bits, each of which depends on all 32 of x. The factors are below 2^31: no product leaves 63 bits."""
    x = ((x ^ (x >> 15)) * 0x6C8E9CF5) & _BITS
    x = ((x ^ (x >> 13)) * 0x5A2D3C1B) & _BITS
    x = ((x ^ (x >> 16)) * 0x38495AB5) & _BITS
    return x ^ (x >> 15)


@kernel
def uniform(one, seed, who, count):
    """From 0 (included) to 1 (left out), in the precision of `one`. seed, who, count: whole numbers, 32 bits each."""
    bits = scrambled((seed & _BITS) ^ 0x1F123BB5)
    bits = scrambled(bits ^ (who & _BITS))
    bits = scrambled(bits ^ (count & _BITS))
    # 24 bits: as many as float32 holds, so that both precisions draw the same numbers and none is rounded up to 1.
    return like(one, bits >> 8) * like(one, 1.0 / 16777216.0)


@kernel
def between(low, high, seed, who, count):
    """From low (included) to high."""
    return low + (high - low) * uniform(low, seed, who, count)
