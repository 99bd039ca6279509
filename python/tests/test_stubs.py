"""The types that the package states are those that it has, and the examples of docs/python.md run and are typed."""

import re
import subprocess
import sys
from pathlib import Path

import frazil
import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"


@pytest.fixture
def examples(tmp_path):
    """The document's examples as one program."""
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(blocks) >= 3
    path = tmp_path / "examples.py"
    path.write_text("\n".join(blocks))
    return path


#: What the libraries of the examples are is their own affair, and takes mypy minutes to read. Modules without annotations use the
#: compiled one, of which mypy knows nothing.
CONFIGURATION = """
[mypy]
strict = True
[mypy-numpy.*,pandas.*,polars.*,pyarrow.*,pyspark.*,sqlalchemy.*]
follow_imports = skip
ignore_missing_imports = True
[mypy-frazil._partitions,frazil.spark,frazil._spark_plans]
ignore_errors = True
"""


@pytest.fixture
def configuration(tmp_path):
    path = tmp_path / "mypy.ini"
    path.write_text(CONFIGURATION)
    return path


def run(*arguments, cwd):
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_examples_run(examples, tmp_path):
    assert "23505 t t_pkey" in run(examples, cwd=tmp_path)


def test_examples_are_typed(examples, configuration, tmp_path):
    run("-m", "mypy", "--strict", "--config-file", configuration, "--python-executable", sys.executable, examples, cwd=tmp_path)


def test_stubs_are_strict_and_true(configuration, tmp_path):
    # A copy: mypy takes all that lies beside a file it is given for the user's own.
    stub = tmp_path / "frazil" / "__init__.pyi"
    stub.parent.mkdir()
    stub.write_text(Path(frazil.__file__).with_name("__init__.pyi").read_text())
    run("-m", "mypy", "--strict", "--config-file", configuration, "--python-executable", sys.executable, stub, cwd=tmp_path)
    stub.unlink()
    stub.parent.rmdir()
    # Where pyspark is not installed, the module for Spark cannot be imported; its own source is its stub.
    allowed = tmp_path / "allowed"
    allowed.write_text("frazil\\.spark(\\..*)?\n")
    run("-m", "mypy.stubtest", "--mypy-config-file", configuration, "--allowlist", allowed, "frazil", cwd=tmp_path)


def test_everything_public_says_what_it_is():
    things = [frazil.connect, frazil.Connection, frazil.Cursor, frazil.Statement, frazil.Error]
    for kind in (frazil.Connection, frazil.Cursor, frazil.Statement):
        things += [getattr(kind, name) for name in vars(kind) if not name.startswith("_")]
    silent = [thing for thing in things if not getattr(thing, "__doc__", None)]
    assert silent == []
