"""Work on many files: what there is to do, where the new files go, and in which processes or on which machines."""
