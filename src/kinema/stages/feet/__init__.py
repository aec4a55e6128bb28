"""`Feet`: the feet of an animated character follow the ground."""
