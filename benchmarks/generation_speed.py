"""Measure CPU seconds and memory of making MultiBLiMP's items from treebanks, by language.

python benchmarks/generation_speed.py [LANG ...]

Measures the CPU time of all stages, in a process for each language. For comparison: the CPU time of
the authors' code (commit 4d189e0) for the same languages and files, on a machine of the same type.
Their code has 13 steps, from pickled treebanks to samples. Without LANG: all languages with a time
of the authors' code. `MB` is the peak memory of the process.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

# CPU seconds of all steps; measured once, on two shared cores.
AUTHORS = {
    "fao": 24,
    "cym": 32,
    "sme": 67,
    "nds": 42,
    "bre": 17,
    "sqi": 18,
    "kaz": 22,
    "kir": 30,
    "hsb": 19,
    "wol": 31,
    "myv": 28,
    "tam": 25,
    "glg": 39,
    "hbo": 36,
    "mar": 20,
    "frm": 18,
    "eng": 193,
}


def measure(lang):
    """Print pairs, items, CPU seconds (start-up included) and peak memory of one language."""
    import resource

    from kit import MIRROR, generate

    with tempfile.TemporaryDirectory() as directory:
        pairs, items = generate(lang, MIRROR, Path(directory))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(pairs, items, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


def main():
    languages = sys.argv[1:] or [*AUTHORS]
    print("| language | pairs | items | CPU s | authors' CPU s | ratio | MB |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    ours = theirs = 0.0
    for lang in languages:
        command = [sys.executable, __file__, "--one", lang]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        pairs, items, seconds, megabytes = output.split()
        ratio = f"{AUTHORS[lang] / float(seconds):.0f}" if lang in AUTHORS else ""
        ours += float(seconds) if lang in AUTHORS else 0
        theirs += AUTHORS.get(lang, 0)
        cells = (
            lang,
            pairs,
            items,
            f"{float(seconds):.1f}",
            AUTHORS.get(lang, ""),
            ratio,
            megabytes,
        )
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    if ours:
        print(f"| all compared languages | | | {ours:.1f} | {theirs:.0f} | {theirs / ours:.0f} | |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2])
    else:
        main()
