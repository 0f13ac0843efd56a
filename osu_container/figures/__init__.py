"""This project's own figures (docs/figures.md): what a container costs. `bench` is for users' runs."""
