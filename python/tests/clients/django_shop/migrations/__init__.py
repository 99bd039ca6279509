"""Written by makemigrations."""
