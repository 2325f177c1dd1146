"""Other addresses of a file, tried in order where the catalogue's does not give it."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from blimpworks.campaign.addresses import check_address
from blimpworks.errors import UserError, reading
from blimpworks.files import BadLine, table_rows

COLUMNS = ("address", "instead")
_NAME = re.compile(r"\{(\w+)\}")


class NotReceived(UserError):
    """An address that did not give a file: the fault may be its own, so another can be tried."""

    def __init__(self, message: str, cause: str) -> None:
        """``cause`` says in a few words which address, and what is wrong with it."""
        super().__init__(message)
        self.cause = cause


def other_addresses(url: str, checksums: Mapping[str, str], table: Path | None) -> list[str]:
    """Further addresses of the file at ``url``, in the order of a table.

    The table has an address with names in braces for its parts (``{path}`` for all that is left,
    others for what has no slash), and ``instead`` another with the same names, or with
    ``{sha256}`` or ``{git_blob}`` for what ``checksums`` says. Rows that need a checksum which is
    not known are passed over.

    Raises UserError for a table that cannot be read, and for a row with unknown names or an
    address that nothing may be downloaded from.
    """
    if table is None:
        return []
    addresses = []
    with reading(table, "a table of addresses", "Correct it."):
        for line, row in table_rows(table, COLUMNS, delimiter="\t"):
            pattern = ""
            # Fixed text and names take turns.
            for position, piece in enumerate(_NAME.split(row["address"])):
                wild = f"(?P<{piece}>{'.+' if piece == 'path' else '[^/]+'})"
                pattern += wild if position % 2 else re.escape(piece)
            try:
                match = re.fullmatch(pattern, url)
            except re.error as error:
                raise BadLine(line, f"address has names that cannot be: {error}") from error
            if match is None:
                continue
            values = match.groupdict() | {key: value for key, value in checksums.items() if value}
            names = {*_NAME.findall(row["instead"])}
            if unknown := names - {*match.groupdict(), *checksums}:
                raise BadLine(line, f"instead names {min(unknown)}, which address does not")
            if names <= values.keys():
                address = row["instead"]
                for name in names:
                    address = address.replace(f"{{{name}}}", quote(unquote(values[name])))
                try:
                    check_address(address)
                except ValueError as error:
                    fault = f"instead is no address to download from: {error}"
                    raise BadLine(line, fault) from error
                addresses.append(address)
    return addresses
