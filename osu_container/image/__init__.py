"""Read the facts of images, libraries and hosts from files. Nothing is loaded or executed."""
