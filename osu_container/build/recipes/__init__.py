"""Data and building blocks for the image recipes in container-recipes/."""
