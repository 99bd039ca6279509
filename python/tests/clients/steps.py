"""Runs the steps of a client's script and reports each on a line: `ok NAME` or `FAIL NAME: ERROR`."""

import sys

_failed = []


def step(name, run):
    """Runs a step; an error is reported, and the script goes on."""
    try:
        run()
    except Exception as error:
        _failed.append(name)
        print(f"FAIL {name}: {type(error).__name__} {' '.join(str(error).split())}"[:1500])
    else:
        print("ok", name)


def finish():
    """Ends the script: with 1 if a step failed."""
    sys.exit(bool(_failed))
