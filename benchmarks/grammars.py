"""Compare two ways to generate evaluation sets from grammars, in CPU time and peak memory.

python benchmarks/grammars.py [MIRROR] [--repeat 3]

The library writes each sentence once it is made (`stream`). For comparison, `lists` makes lists of
all sentences, as the definition of grammars suggests. Both write the released format to a file. The
grammars are those of config/grammars, all that CLAMS released (in the mirror), and one with a
million lines. CPU time is the least of several runs, without start and imports. Peak memory is the
growth in a process while it generates, also the least of the runs.
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
    """Write the lines that the library generates; return their number."""
    count = 0
    with output.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines_of(generate(grammar)):
            file.write(line)
            count += 1
    return count


def expand(templates, rules, vary, variant):
    """Return (right or not, sentence) pairs by lists, as in the paper and the released files.

    ``templates`` are lists of symbols, each a word or (name, attributes). ``rules`` has the
    alternatives by (name, attributes). ``vary`` is a list of (name, attributes). All attributes
    are frozensets.
    """
    published, sets = variant == "published", []
    for template in templates:
        sentences = [(True, [])]
        for number, symbol in enumerate(template, start=1):
            if isinstance(symbol, str):
                sentences = [(flag, [*tokens, symbol]) for flag, tokens in sentences]
                continue
            name, attributes = symbol
            named = [key for key in rules if key[0] == name]
            items = [v for n, v in dict.fromkeys(vary) if n == name and v <= attributes]
            if not items and published and name in dict(vary):
                sentences = [(True, [])] if number < len(template) else []
            elif not items:
                sentences = [
                    (f, [*tokens, new]) for new in rules[symbol] for f, tokens in sentences
                ]
            else:
                groups = [[k for k in named if k != symbol and any(v <= k[1] for v in items)]]
                if published and all(items):
                    groups = [[key for key in named if v <= key[1]] for v in items]
                forms = [
                    (new == 0, rules[key][k])
                    for group in groups
                    for k, (new, key) in product(
                        range(len(rules[symbol])), enumerate([symbol, *group])
                    )
                ]
                sentences = [
                    (right and (flag or published), [*tokens, form])
                    for flag, tokens in sentences
                    for right, form in forms
                ]
        sets += [(flag, " ".join(filter(None, tokens))) for flag, tokens in sentences]
    return sets


def materialise(grammar, output):
    """Write all lines from a list of all sentences; return their number."""
    rules = {
        (rule.defined.name, rule.defined.attributes): [choice.text for choice in rule.alternatives]
        for rule in grammar.rules.values()
    }
    templates = [
        [
            p if isinstance(p, str) else (p.target.name, p.target.attributes)
            for p in template.elements
        ]
        for template in grammar.templates
    ]
    vary = [(item.target.name, item.target.attributes) for item in grammar.vary]
    sentences = expand(templates, rules, vary, "published")
    output.write_text("".join(f"{flag}\t{text}\n" for flag, text in sentences), encoding="utf-8")
    return len(sentences)


WAYS = {"lists": materialise, "stream": stream}


def measure(way, paths):
    """Print the number of lines, CPU seconds, and the growth of peak memory in KB, of one way."""
    grammars = [read_grammar(path, common_beside(path), "published") for path in paths]
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "set.txt"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        lines = sum(WAYS[way](grammar, output) for grammar in grammars)
        spent = time.process_time() - started
    print(lines, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def corpora(mirror, directory):
    """Return the paths of the grammars to generate from, by label."""
    avg_files = sorted((REPOSITORY / "config" / "grammars").glob("*/*.avg"))
    grammars = {"config/grammars": [path for path in avg_files if path.stem != "common"]}
    if mirror is not None:
        unpacked = (kit.released(mirror, directory / lang, lang) for lang in kit.LANGUAGES)
        grammars["released"] = [path for _, cases in unpacked for path in cases]
    return grammars | {"a million lines": [million(directory / "million")]}


def million(directory):
    """Write English prep_anim with repeated embedded nouns, a million lines; return its path."""
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
    """Return the number of lines, the least CPU seconds, and the least growth of memory [KB]."""
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
    arguments = parser.parse_args()
    print("| grammars | sets | lines | way | CPU s | lines per CPU s | peak memory, MB |")
    print("|---|--:|--:|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as directory:
        for label, paths in corpora(arguments.mirror, Path(directory)).items():
            for way in WAYS:
                lines, seconds, kilobytes = best(way, paths, arguments.repeat)
                speed, peak = f"{lines / seconds:,.0f}", f"{kilobytes / 1024:.1f}"
                cells = (label, len(paths), f"{lines:,}", way, f"{seconds:.2f}", speed, peak)
                print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], [Path(path) for path in sys.argv[3:]])
    else:
        main()
