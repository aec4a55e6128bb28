"""Chains of any length: FABRIK, CCD and compensating angles, with and without limits."""
