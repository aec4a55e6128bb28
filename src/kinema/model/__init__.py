"""What a character is: skeletons, poses, limits, clips, rigs and skins."""
