"""Reading files: what an image, a library, a host says of itself. Nothing is loaded or run."""
