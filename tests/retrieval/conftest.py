"""A network that is this machine, and a server on it."""

import pytest

from support.loopback import serving


@pytest.fixture(autouse=True)
def _direct(monkeypatch, tmp_path):
    for variable in ("BLIMPWORKS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server():
    with serving() as running:
        yield running
