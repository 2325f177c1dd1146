import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blimpworks.campaign import addresses
from blimpworks.campaign.catalogue import SourceRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from support.paths import REPOSITORY

SECRET = "hunter2-hunter2"
REFUSED = {
    "": "does not begin with https://",
    "file:///etc/passwd": "does not begin with https://",
    "ftp://example.org/x": "does not begin with https://",
    "example.org/x": "does not begin with https://",
    "http://example.org/x": "begins with http://, so that others",
    "http://10.0.0.1/x": "begins with http://, so that others",
    "http://127.0.0.1.example.org/x": "begins with http://, so that others",
    f"https://user:{SECRET}@example.org/x": "holds a user or password",
    f"https://{SECRET}@example.org/x": "holds a user or password",
    "https:///x": "names no host",
    "https://": "names no host",
    "https://[::1/x": "cannot be read as an address",
    "https://example.org:port/x": "port is no number",
    "https://example.org:0/x": "port is no number",
    "https://example.org:65536/x": "port is no number",
    f"https://{'a' * 64}.org/x": "host is too long",
    f"https://{'a.' * 150}org/x": "host is too long",
    "https://exa mple.org/x": "holds a space or control character",
    "https://example.org/x\r\nHost: other": "holds a space or control character",
    "https://exa|mple.org/x": "names no host",
}
ALLOWED = ["https://example.org/a@1.0/x?download=1", "https://例え.jp:8443/x"]
ALLOWED += ["http://127.0.0.1:8000/x", "http://localhost/x", "http://[::1]:8000/x"]


@pytest.mark.parametrize("url", REFUSED)
def test_an_address_that_is_not_allowed_is_refused_with_the_reason(url):
    with pytest.raises(ValueError, match=REFUSED[url]) as refused:
        addresses.check_address(url)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("url", ALLOWED)
def test_https_and_this_machine_are_allowed(url):
    addresses.check_address(url)
    assert addresses.shown(url) == url


def test_a_redirect_may_not_leave_https():
    addresses.check_redirect("https://example.org/x", "https://example.com/x")
    addresses.check_redirect("http://127.0.0.1/x", "https://example.com/x")
    for before, url, fault in (
        ("https://example.org/x", "http://127.0.0.1/x", "leaves https"),
        ("http://127.0.0.1/x", "http://example.org/x", "begins with http://"),
        ("https://example.org/x", "file:///etc/passwd", "does not begin"),
    ):
        with pytest.raises(ValueError, match=fault):
            addresses.check_redirect(before, url)


@given(st.text(), st.text(max_size=300))
def test_any_text_is_refused_in_one_way_and_shown_shortly(head, rest):
    for url in (head, f"https://{head}", f"https://{head}/{rest}?{rest}"):
        assert len(addresses.shown(url)) <= addresses.LONGEST_ADDRESS + 1
        try:
            addresses.check_address(url)
        except ValueError as error:
            # A library's own error, such as UnicodeError, is a ValueError too.
            assert type(error) is ValueError  # noqa: PT017


@pytest.mark.parametrize(
    "url",
    [
        f"https://user:{SECRET}@example.org/x",
        f"https://{SECRET}@example.org",
        f"https://user:pass/{SECRET}@example.org/x",
        f"https://example.org/x?token={SECRET}",
        f"https://example.org/x?{SECRET}",
        f"https://example.org/x?{SECRET}==",
        f"https://example.org/x?token={SECRET}==",
        f"https://example.org/x?sig={SECRET}=",
        f"https://example.org/x?a=1&X-Amz-Signature={SECRET}#{SECRET}",
        f"https://example.org/x#{SECRET}",
        f"user:{SECRET}@example.org/x",
    ],
)
def test_nothing_secret_of_an_address_is_shown(url):
    assert SECRET not in addresses.shown(url) + addresses.without_secrets(url)
    if "://" in url:
        assert SECRET not in addresses.scrubbed(f"no answer from ('{url}') there")
    said = f"Max retries exceeded with url: /x?token={SECRET} (Caused by none)"
    assert addresses.scrubbed(said) == "Max retries exceeded with url: /x?token=… (Caused by none)"


CATALOGUES = [
    path
    for path in sorted((REPOSITORY / "config").rglob("*.tsv"))
    if "url" in path.read_text(encoding="utf-8").partition("\n")[0].split("\t")
]


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parent.name + path.name)
def test_each_address_of_our_tables_is_https_and_shown_as_it_is(path):
    with path.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    for row in rows:
        url = row["url"]
        assert addresses.check_listed(url) == url == addresses.without_secrets(url)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (f"https://me:{SECRET}@example.org/x", "holds a user or password"),
        (f"https://example.org/x?token={SECRET}", "holds a token or signature"),
        ("http://example.org/x", "begins with http://"),
    ],
)
def test_a_table_with_a_wrong_address_is_named_without_what_is_secret(tmp_path, url, says):
    table = tmp_path / "sources.tsv"
    heading = "name\tkind\tlang\tversion\tsha256\tbytes\tlicence\turl\tmirror"
    table.write_text(f"{heading}\nx\ttext\t\tv1\t\t\tCC0\t{url}\tx\n")
    with pytest.raises(UserError, match=rf"sources.tsv:2: column 'url' .*{says}") as refused:
        read_rows(SourceRow, table)
    assert SECRET not in str(refused.value)
