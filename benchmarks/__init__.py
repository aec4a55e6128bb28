"""How fast Kinema is on this machine, next to the peers that are installed: `kinema bench`."""
