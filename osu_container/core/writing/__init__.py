"""Writing: the text of modules, and wrappers."""
