"""Measure time and memory of generating evaluation sets, in a stream and by lists.

python benchmarks/grammars.py [MIRROR] [--repeat 3]

The grammars are those of config/grammars, all that CLAMS released (in the mirror), and one with a
million lines. The definition of grammars suggests lists of all sentences. Both ways write the
released format to a file. CPU time is the least of several runs, without start and imports. Peak
memory is that of a process for each way, beyond its memory before generating.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

from blimpworks.papers.clams.items.grammar.generator import generate, lines_of  # noqa: E402
from blimpworks.papers.clams.items.grammar.model import (  # noqa: E402
    common_beside,
    read_grammar,
)
from support import grammar_kit as kit  # noqa: E402


def stream(grammar, output):
    """Yield the lines that the library generates."""
    count = 0
    with output.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines_of(generate(grammar)):
            file.write(line)
            count += 1
    return count


def expand(templates, rules, vary, variant):
    """Return flags and sentences, by lists of sentences as in the paper and the released files.

    ``templates``: parts, each a word or (name, attributes); ``rules``: alternatives by (name,
    attributes); ``vary``: (name, attributes). All attributes are frozensets.
    """
    published, sets = variant == "published", []
    for template in templates:
        sentences = [(True, [])]
        for number, part in enumerate(template, start=1):
            if isinstance(part, str):
                sentences = [(flag, [*words, part]) for flag, words in sentences]
                continue
            name, attributes = part
            named = [key for key in rules if key[0] == name]
            items = [v for n, v in dict.fromkeys(vary) if n == name and v <= attributes]
            if not items and published and name in dict(vary):
                sentences = [(True, [])] if number < len(template) else []
            elif not items:
                sentences = [(f, [*words, new]) for new in rules[part] for f, words in sentences]
            else:
                groups = [[k for k in named if k != part and any(v <= k[1] for v in items)]]
                if published and all(items):
                    groups = [[key for key in named if v <= key[1]] for v in items]
                forms = [
                    (new == 0, rules[key][k])
                    for group in groups
                    for k, (new, key) in product(range(len(rules[part])), enumerate([part, *group]))
                ]
                sentences = [
                    (right and (flag or published), [*words, form])
                    for flag, words in sentences
                    for right, form in forms
                ]
        sets += [(flag, " ".join(filter(None, words))) for flag, words in sentences]
    return sets


def materialise(grammar, output):
    """Yield lines from lists of all sentences."""
    rules = {
        (rule.defined.name, rule.defined.attributes): [each.text for each in rule.alternatives]
        for rule in grammar.rules.values()
    }
    templates = [
        [p if isinstance(p, str) else (p.target.name, p.target.attributes) for p in each.elements]
        for each in grammar.templates
    ]
    vary = [(item.target.name, item.target.attributes) for item in grammar.vary]
    sentences = expand(templates, rules, vary, "published")
    output.write_text("".join(f"{flag}\t{text}\n" for flag, text in sentences), encoding="utf-8")
    return len(sentences)


WAYS = {"lists": materialise, "stream": stream}


def measure(way, paths):
    """Print lines, CPU seconds and the growth of peak memory in KB of one way."""
    grammars = [read_grammar(path, common_beside(path), "published") for path in paths]
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "set.txt"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        lines = sum(WAYS[way](grammar, output) for grammar in grammars)
        spent = time.process_time() - started
    print(lines, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def corpora(mirror, directory):
    """Return the grammars to generate from, by name."""
    own = sorted((REPOSITORY / "config" / "grammars").glob("*/*.avg"))
    grammars = {"our own": [path for path in own if path.stem != "common"]}
    if mirror is not None:
        unpacked = (kit.released(mirror, directory / lang, lang) for lang in kit.LANGUAGES)
        grammars["released"] = [path for _, cases in unpacked for path in cases]
    return grammars | {"a million lines": [million(directory / "million")]}


def million(directory):
    """Write English prep_anim with repeated embedded nouns, so that it has a million lines."""
    english = REPOSITORY / "config" / "grammars" / "eng"
    directory.mkdir()
    common = (english / "common.avg").read_text(encoding="utf-8")
    nouns = [line for line in common.splitlines() if line.startswith("N_2")]
    (directory / "common.avg").write_text(common, encoding="utf-8")
    case = (english / "prep_anim.avg").read_text(encoding="utf-8")
    path = directory / "prep_anim.avg"
    path.write_text("\n".join([case, *nouns * 35]), encoding="utf-8")
    return path


def best(way, paths, repeat):
    """Return lines, least CPU seconds, and least growth of peak memory [KB] of several runs."""
    command = [sys.executable, __file__, "--one", way, *map(str, paths)]
    runs = [
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        for _ in range(repeat)
    ]
    lines, seconds, kilobytes = zip(*runs, strict=True)
    return int(lines[0]), min(map(float, seconds)), min(map(int, kilobytes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("mirror", nargs="?", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    print("| grammars | sets | lines | way | CPU s | lines per CPU s | peak memory, MB |")
    print("|---|--:|--:|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as directory:
        for called, paths in corpora(given.mirror, Path(directory)).items():
            for way in WAYS:
                lines, seconds, kilobytes = best(way, paths, given.repeat)
                speed, peak = f"{lines / seconds:,.0f}", f"{kilobytes / 1024:.1f}"
                cells = (called, len(paths), f"{lines:,}", way, f"{seconds:.2f}", speed, peak)
                print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], [Path(path) for path in sys.argv[3:]])
    else:
        main()
