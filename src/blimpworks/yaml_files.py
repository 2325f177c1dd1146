"""Read YAML safely: plain values, each key once, within a second."""

from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import SafeConstructor
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.resolver import Resolver

from blimpworks.errors import UserError, reading

LONGEST = 100_000
"""Most characters of a text; ours have up to 30,000."""
DEEPEST = 50
"""Most levels of nesting, with aliases expanded."""
MOST = 10_000
"""Most values of a text, with aliases expanded."""
DIGITS = 100
"""Most characters of a number."""
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
MERGE = "tag:yaml.org,2002:merge"
Mark = yaml.error.Mark


class _Loader(Composer, CParser, SafeConstructor, Resolver):
    """Loads plain values; raises a ``YAMLError`` with the line of a double key or an excess.

    Events come from libyaml, several times as fast as PyYAML's parser. Nodes are composed here:
    libyaml's composer would recurse as deep as the text says.
    """

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self._level = 0
        self._extents: dict[Any, tuple[int, int]] = {}
        """Number of values of each whole node, and of its levels."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose the next node and count its values; an alias counts as its anchor."""
        is_alias = self.check_event(yaml.AliasEvent)
        mark: Any = self.peek_event().start_mark  # type: ignore[union-attr]
        self._level += 1
        self._bound(self._level, DEEPEST, "levels", mark)
        node = super().compose_node(parent, index)
        self._level -= 1
        if is_alias and node not in self._extents:
            raise ComposerError(None, None, "an alias inside what it repeats", mark)
        if not is_alias:
            self._measure(node, mark)
        return node

    def _measure(self, node: Any, mark: Mark) -> None:
        children: list[Any] = []
        if isinstance(node, yaml.MappingNode):
            children = [child for pair in node.value for child in pair]
            # Each key must stand once; merged ones may stand again.
            lines: dict[Any, int] = {}
            for key in (key for key, _ in node.value if key.tag != MERGE):
                value = self.construct_object(key) if isinstance(key, yaml.ScalarNode) else key
                if value in lines:
                    problem = (
                        f"key {value!r:.60} stands twice, first in line {lines[value]}; keep one"
                    )
                    raise ComposerError(None, None, problem, key.start_mark)
                lines[value] = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode):
            children = node.value
        if node.tag in NUMBERS:
            self._bound(len(node.value), DIGITS, "characters of a number", mark)
        extents = [self._extents[child] for child in children]
        size = 1 + sum(values for values, _ in extents)
        depth = 1 + max((levels for _, levels in extents), default=0)
        self._extents[node] = size, depth
        self._bound(max(size, len(self._extents)), MOST, "values", mark)
        self._bound(depth, DEEPEST, "levels", mark)

    def _bound(self, number: int, most: int, what: str, mark: Mark) -> None:
        if number > most:
            raise ComposerError(None, None, f"more than {most:,} {what}", mark)


def load_yaml(text: str, source: str) -> Any:
    """Read a YAML text, which the message calls ``source``.

    Raises UserError for a malformed text, an excess, or a double key.
    """
    if len(text) > LONGEST:
        raise UserError(
            f"{source} has {len(text):,} characters; expected YAML of at most {LONGEST:,}. Make it "
            "shorter."
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


def read_yaml(path: Path, what: str) -> Any:
    """Read a YAML file. Raises UserError, which says that it expected ``what``."""
    with reading(path, what, "Write it, in UTF-8."):
        text = path.read_text(encoding="utf-8")
    return load_yaml(text, str(path))
