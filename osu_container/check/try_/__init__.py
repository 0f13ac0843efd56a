"""`osu-container try`: run every approach once and write one report file."""
