"""Crowds on a CUDA GPU: the stages of `Animator(..., count=N, device="cuda")`, one thread for each character.

Every stage calls the kernels that it calls on the CPU. What is different is where the numbers lie: see `tiles`.
"""
