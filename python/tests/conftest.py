"""What several tests share: connections and the instruction sets the machine has."""

import frazil
import pytest


@pytest.fixture
def con():
    """An empty database in memory."""
    connection = frazil.connect(":memory:")
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def isas():
    """The instruction sets that this machine has; scalar is among them everywhere."""
    connection = frazil.connect(":memory:")
    found = []
    for isa in ("scalar", "avx2", "avx512"):
        try:
            connection.execute(f"set frazil.isa = '{isa}'")
            found.append(isa)
        except frazil.Error as error:
            assert error.sqlstate == "22023", error
    connection.close()
    assert "scalar" in found
    return found
