"""From points to a character: `fit`, and `Fitter` while points arrive."""
