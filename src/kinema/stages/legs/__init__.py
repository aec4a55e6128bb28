"""What everything with legs shares: contact with the ground, soles, pelvis and leg solver."""
