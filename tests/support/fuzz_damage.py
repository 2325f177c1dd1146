"""Damage the bytes of small valid files as accidents do, from seeds.

``STRUCTURAL`` damage can be seen: a reader of such a file must refuse it, or read the same data.
Other damage can leave another valid file, such as one with another letter.
"""

import re

PLACES = re.compile(rb"[^\t,;:|=\n\"{}\[\] ]+")
"""Pattern of text that may be a cell or a value."""
WIDE = 200_000
DEEP = 20_000


def _line(data, random, skip=1):
    """Return start and end, line end included, of a line that is not among the first."""
    lines = data.splitlines(keepends=True)
    at = random.randrange(min(skip, len(lines) - 1), len(lines)) if lines else 0
    start = sum(map(len, lines[:at]))
    return start, start + len(lines[at]) if lines else 0


def _replaced(data, random, new):
    matches = list(PLACES.finditer(data))
    if not matches:
        return data + new
    match = random.choice(matches)
    return data[: match.start()] + new + data[match.end() :]


def _cells(data, random, change):
    """Return ``data`` with the cells of a line changed."""
    start, end = _line(data, random)
    line = data[start:end].rstrip(b"\r\n")
    separator = next((each for each in (b"\t", b",", b";") if each in line), b"\t")
    cells = change(line.split(separator))
    return data[:start] + separator.join(cells) + data[start + len(line) :]


def cut(data, random):
    """Cut the file in the middle of a line (a binary file, anywhere)."""
    body = data.rstrip(b"\r\n")
    places = [n for n in range(1, len(body)) if body[n - 1] != 10 and body[n] not in (10, 13)]
    return data[: random.choice(places)] if places else b""


def flip(data, random):
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def delete(data, random):
    at = random.randrange(len(data))
    return data[:at] + data[at + random.randint(1, 9) :]


def lose_line(data, random):
    start, end = _line(data, random)
    return data[:start] + data[end:]


def repeat_line(data, random):
    start, end = _line(data, random)
    line = data[start:end]
    return data[:end] + (b"" if line.endswith(b"\n") else b"\n") + line + data[end:]


def swap_cells(data, random):
    def swapped(cells):
        at = random.randrange(max(len(cells) - 1, 1))
        return [*cells[:at], *cells[at : at + 2][::-1], *cells[at + 2 :]]

    return _cells(data, random, swapped)


def lose_cell(data, random):
    return _cells(data, random, lambda cells: cells[:-1])


def add_cell(data, random):
    return _cells(data, random, lambda cells: [*cells, b"more"])


def utf16(data, _random):
    return data.decode("utf-8", "replace").encode("utf-16")


def bad_byte(data, random):
    at = random.randrange(len(data))
    return data[:at] + b"\xff" + data[at:]


def nuls(data, random):
    """Put zeros in place of some bytes, as a lost disk block leaves them."""
    at = random.randrange(len(data))
    return data[:at] + bytes(len(data[at : at + 16])) + data[at + 16 :]


def wide(data, random):
    return _replaced(data, random, b"x" * WIDE)


def empty(_data, _random):
    return b""


def blank(_data, _random):
    """Replace the file by white space."""
    return b" \n \n"


def deep(_data, random):
    """Nest lists or objects 20,000 deep."""
    return random.choice([b"[", b'{"a":', b"- "]) * DEEP


def noise(data, random):
    return random.randbytes(min(len(data), 4096))


def number(data, random):
    return _replaced(
        data, random, random.choice([b"7", b"-1.5", b"1e999", b"null", b"true", b"NaN"])
    )


def other_type(data, random):
    return _replaced(data, random, random.choice([b"[1, 2]", b'{"a": 1}', b"[]", b"{}"]))


STRUCTURAL = (cut, repeat_line, lose_cell, add_cell, utf16, bad_byte, nuls)
STRUCTURAL += (wide, empty, blank, deep, noise)
OTHER = (flip, delete, lose_line, swap_cells, number, other_type)
DAMAGE = {each.__name__: each for each in (*STRUCTURAL, *OTHER)}
