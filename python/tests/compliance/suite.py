"""SQLAlchemy's own compliance suite of dialects. `test_sqlalchemy.py` runs it, as a pytest of its own."""

from sqlalchemy.testing.suite import *  # noqa: F403
