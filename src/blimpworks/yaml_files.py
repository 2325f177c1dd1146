"""Read YAML safely (``read_yaml``): plain values, unique keys, limits on size and nesting."""

import re
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import SafeConstructor
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.resolver import Resolver

from blimpworks.errors import UserError, reading

MOST_CHARACTERS = 100_000
"""Most characters of a text; the files of this repository have up to 30,000."""
DEEPEST = 50
"""Most levels of nesting, with aliases expanded."""
MOST_VALUES = 10_000
"""Most values of a text, with aliases expanded."""
DIGITS = 100
"""Most characters of a number."""
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
ODD_NUMBER = re.compile(r"[-+]?0[0-7_]+|.*:.*")
"""Numbers of base 8 (010 is 8) and base 60 (1:30 is 90) in YAML 1.1."""
MERGE = "tag:yaml.org,2002:merge"  # of the key "<<"
Mark = yaml.error.Mark


class _Loader(Composer, CParser, SafeConstructor, Resolver):
    """Loads plain values; raises ``YAMLError`` with the line of a repeated key or exceeded limit.

    The parser is that of libyaml, which is several times as fast as PyYAML's. The composer, which
    builds nodes, is that of PyYAML, because libyaml's recurses without a limit.
    """

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self._level = 0
        self._extents: dict[Any, tuple[int, int]] = {}
        """{composed node: (number of values in it, number of levels)}, with aliases expanded."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Build the next node, and check limits; an alias is as large as the node behind it."""
        event: Any = self.peek_event()
        is_alias, mark = isinstance(event, yaml.AliasEvent), event.start_mark
        if getattr(event, "tag", None):
            problem = f"the tag {event.tag!r}, expected a plain value without one"
            raise ComposerError(None, None, problem, mark)
        self._level += 1
        self._limit(self._level, DEEPEST, "levels", mark)
        node = super().compose_node(parent, index)
        self._level -= 1
        if is_alias and node not in self._extents:
            raise ComposerError(None, None, "an alias inside what it repeats", mark)
        if not is_alias:
            self._check_node(node, mark)
        return node

    def _check_node(self, node: Any, mark: Mark) -> None:
        """Check that keys are unique and limits not exceeded; store the node's extent."""
        children: list[Any] = []
        if isinstance(node, yaml.MappingNode):
            children = [child for pair in node.value for child in pair]
            # Keys must be unique, except those that a merge key ("<<") adds.
            lines: dict[Any, int] = {}
            for key in (key for key, _ in node.value if key.tag != MERGE):
                value = self.construct_object(key) if isinstance(key, yaml.ScalarNode) else key
                if value in lines:
                    problem = (
                        f"key {value!r:.60} is there twice, first in line {lines[value]}; keep one"
                    )
                    raise ComposerError(None, None, problem, key.start_mark)
                lines[value] = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode):
            children = node.value
        if node.tag in NUMBERS:
            self._limit(len(node.value), DIGITS, "characters of a number", mark)
            if ODD_NUMBER.fullmatch(node.value):
                number = self.construct_object(node)
                problem = (
                    f"{node.value} is the number {number} in YAML; write {number}, or quote it"
                )
                raise ComposerError(None, None, problem, mark)
        extents = [self._extents[child] for child in children]
        size = 1 + sum(values for values, _ in extents)
        depth = 1 + max((levels for _, levels in extents), default=0)
        self._extents[node] = size, depth
        self._limit(max(size, len(self._extents)), MOST_VALUES, "values", mark)
        self._limit(depth, DEEPEST, "levels", mark)

    def _limit(self, number: int, most: int, noun: str, mark: Mark) -> None:
        if number > most:
            raise ComposerError(None, None, f"more than {most:,} {noun}", mark)


def load_yaml(text: str, source: str) -> Any:
    """Parse a YAML text, called ``source`` in messages. Raises UserError for a fault in it."""
    if len(text) > MOST_CHARACTERS:
        raise UserError(
            f"{source} has {len(text):,} characters; expected YAML of at most "
            f"{MOST_CHARACTERS:,}. Make it shorter."
        )
    try:
        return _Loader(text).get_single_data()
    except (yaml.YAMLError, ValueError) as error:
        fault = " ".join(str(error).split())
        if isinstance(error, yaml.MarkedYAMLError):
            mark = error.problem_mark
            where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
            fault = where + " ".join(filter(None, (error.context, error.problem)))
        raise UserError(f"{source} is not valid YAML: {fault}") from error


def read_yaml(path: Path, description: str) -> Any:
    """Parse a YAML file, whose content messages call ``description``. Raises as ``load_yaml``."""
    with reading(path, description, "Write it, in UTF-8."):
        text = path.read_text(encoding="utf-8")
    return load_yaml(text, str(path))
