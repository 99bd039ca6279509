"""The examples of docs/scale.md run, each as a program of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import frazil
import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "scale.md"
#: The package that an example needs, by the words that it has, and what it prints.
EXAMPLES = {
    "multiprocessing": (None, "100001"),
    "ray": ("ray", "100001"),
    "dask.dataframe": ("dask.dataframe", "1000"),
    "daft": ("daft", "1000"),
    "pyspark.sql": ("pyspark", "100001"),
}


def blocks():
    return re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


def example(word):
    (found,) = [block for block in blocks() if re.search(rf"import {re.escape(word)}\b|from {re.escape(word)}\b", block)]
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A directory beside the examples: orders of 1,000 customers."""
    place = tmp_path_factory.mktemp("scale")
    with frazil.connect(place / "sales") as con:
        con.execute("create table orders (id integer, customer integer, total decimal(12, 2), day date)")
        con.execute("insert into orders select i, i % 1000, i / 100.0, date '2024-01-01' + i / 400 from generate_series(1, 150000) r(i)")
        con.execute("freeze table orders")
    return place


@pytest.mark.parametrize("word", EXAMPLES)
def test_an_example_runs(folder, word):
    package, said = EXAMPLES[word]
    if package:
        pytest.importorskip(package, reason=f"{package} is not installed")
    if package == "pyspark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("there is no Java")
    program = folder / f"example_{word.partition('.')[0]}.py"
    program.write_text(example(word))
    paths = [str(Path(frazil.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "RAY_DEDUP_LOGS": "0", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run([sys.executable, program], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stdout.split(), done.stdout + done.stderr
