"""How fast Kinema is on this machine, next to the peers that are installed: `python -m benchmarks`. See README.md."""
