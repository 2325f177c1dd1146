"""Replace the network by this machine, with short timeouts and a server on it."""

import pytest

from blimpworks.retrieval import download
from support.loopback import serving


@pytest.fixture(autouse=True)
def _direct(monkeypatch, tmp_path):
    for variable in ("BLIMPWORKS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.chdir(tmp_path)
    limits = {"RETRIES": 2, "STALLS": 2, "BACKOFF": 0.01, "LIMITS": (2, 2)}
    for name, value in limits.items():
        monkeypatch.setattr(download, name, value)


@pytest.fixture
def server():
    with serving() as running:
        yield running
