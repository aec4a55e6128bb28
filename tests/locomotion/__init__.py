"""How `Locomotion` walks: characters over grounds at several speeds and frame rates, measured from outside."""
