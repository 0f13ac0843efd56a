"""What an installation and a verdict need: Python 3.6, standard library, no EasyBuild."""
