"""What a bake does to feet, one step a module; `kinema.bake.baking` says in which order and why."""
