"""What characters do: each a stage of the frame, with settings that stay and a state of arrays that goes on."""
