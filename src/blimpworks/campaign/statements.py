"""Archives that state a checksum of each file that they hold, and where they state it."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from blimpworks.campaign.addresses import is_loopback

_ZENODO = re.compile(r"/records?/(\d+)/files/([^/]+)")
_HUB = re.compile(r"/datasets/([\w.-]+/[\w.-]+)/resolve/([0-9a-f]{40})/(.+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """Where an archive states the checksum of a file."""

    archive: Literal["zenodo", "hub"]
    url: str
    """Address of its API that answers with JSON."""
    file: str
    """What the archive calls the file there."""


def statement_of(url: str) -> Statement | None:
    """Where the checksum of the file at an address is stated; None where nobody states one.

    Zenodo states MD5s of a record's files (developers.zenodo.org), the Hugging Face hub the SHA-256
    or git blob ids of a data set's files at a commit (huggingface.co/docs/hub/api).
    """
    parts = urlsplit(url)
    base, path = f"{parts.scheme}://{parts.netloc}", unquote(parts.path)
    if (match := _ZENODO.fullmatch(path)) and _is(parts.hostname, "zenodo.org"):
        return Statement("zenodo", f"{base}/api/records/{match[1]}", match[2])
    if (match := _HUB.fullmatch(path)) and _is(parts.hostname, "huggingface.co"):
        folder = match[3].rpartition("/")[0]
        address = f"{base}/api/datasets/{match[1]}/tree/{match[2]}"
        return Statement("hub", f"{address}/{folder}" if folder else address, match[3])
    return None


def _is(host: str | None, archive: str) -> bool:
    return host == archive or is_loopback(host or "")
