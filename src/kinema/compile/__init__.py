"""The compiler: everything that talks to numba, the cache of kernels, records and lanes."""
