"""Data and building blocks for the recipes in container-recipes/."""
