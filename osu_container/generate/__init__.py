"""What writes the files that people read: modules/, container-recipes/rendered/, tables of docs/."""
