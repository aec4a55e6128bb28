"""`Locomotion`: characters that walk without a clip."""
