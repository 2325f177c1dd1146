"""Compare Multi-LMentry's prompts (``published``) with those of the authors' code.

python benchmarks/release_prompts.py --release DIR [--lang LANG ...]

DIR is a checkout of github.com/langtech-bsc/multi_lmentry at commit 0e536f48, the commit nearest to
the paper. Its code runs unchanged, task by task, in a process for each language, and writes to a
temporary folder. It needs pandas, jamo, num2words and NLTK with its stop words
(``python -m nltk.downloader stopwords``). Our prompts are drawn from the resources in DIR.

Prompts are equal if their template, text and all arguments that both sides note are equal. Some
tasks of the release iterate over sets, whose order differs between runs. Therefore equal prompts
are counted in any order, and also those with the same number when the order of sets is fixed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from importlib import import_module
from pathlib import Path

from blimpworks.papers.lmentry.items.packs import read_declarations, read_pack
from blimpworks.papers.lmentry.items.prompts import prompts_of
from blimpworks.papers.lmentry.items.resources import read_resources
from blimpworks.papers.lmentry.settings import LmentryOptions

CONFIG = Path(__file__).resolve().parents[1] / "config" / "lmentry"
ENVIRONMENT = {"PYTHONUTF8": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
"""Variables for text in UTF-8, a fixed order of sets, and a checkout without new files."""
COLUMNS = ("release", "equal", "equal, same number", "ours", "ours, where the release stops")


def task_of(code, name):
    """Return the only class in the release's module of a task."""
    module = import_module(f"lmentry.tasks.{code}.{name}")
    classes = (value for value in vars(module).values() if isinstance(value, type))
    (task,) = (value for value in classes if value.__module__ == module.__name__)
    return task


def run_release(release, folder, code, *names):
    """Let the release write a language's prompts to a folder, a file per task, or its error."""
    sys.path.insert(0, release)
    constants = import_module("lmentry.constants")
    constants.initialize_variables(code)
    constants.TASKS_DATA_DIR = constants.PREDICTIONS_ROOT_DIR = Path(folder)
    for name in names:
        try:
            task_of(code, name)().create_data()
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            Path(folder, f"{name}.txt").write_text(reason, encoding="utf-8")


def released(release, code, names):
    """Yield each task with the (template, text, arguments) of its prompts, or the error as text."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--one", release, folder, code, *names]
        done = subprocess.run(
            command, env=os.environ | ENVIRONMENT, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{release} doesn't run for {code}: {done.stderr.splitlines()[-1]}")
        for name in names:
            stopped = Path(folder, f"{name}.txt")
            if stopped.exists():
                yield name, stopped.read_text(encoding="utf-8")
                continue
            examples = json.loads(Path(folder, f"{name}.json").read_text(encoding="utf-8"))
            rows = examples["examples"].values()
            yield (
                name,
                [(r["metadata"].pop("template_id") + 1, r["input"], r["metadata"]) for r in rows],
            )


def ours(release, pack):
    """Return (template, text, arguments) of our prompts, by task."""
    files = [*(release / "resources" / pack.resources).iterdir()]
    declarations = read_declarations(CONFIG / "tasks.yaml")
    prompts = defaultdict(list)
    for row in prompts_of(read_resources(files), pack, declarations, LmentryOptions()):
        arguments = json.loads(row["arguments"])
        prompts[row["phenomenon"]].append((row["template"], row["prompt"], arguments))
    return prompts


def lines(prompts, names):
    """Return prompts as lines of JSON, with the arguments of these names."""
    return [
        json.dumps([template, text, {k: arguments.get(k) for k in names}], ensure_ascii=False)
        for template, text, arguments in prompts
    ]


def first(lines, compared):
    """Return the first line that ``compared`` lacks, or "none"."""
    lacking = Counter(lines) - Counter(compared)
    return next((line for line in lines if line in lacking), "none")


def compare(pack, release, remarks, ignored):
    """Return a language's counts; add to the remarks, and to the arguments of one side alone."""
    drawn, counts = ours(release, pack), Counter()
    for name, prompts in released(release, pack.resources, drawn):
        if isinstance(prompts, str):
            counts["ours, where the release stops"] += len(drawn[name])
            remarks.append(f"{pack.lang} {name}: the release stops ({prompts})")
            continue
        their_names, our_names = (
            {key for *_, a in rows for key in a} for rows in (prompts, drawn[name])
        )
        ignored.update({key: len(prompts) for key in their_names ^ our_names})
        theirs, mine = (
            lines(rows, sorted(their_names & our_names)) for rows in (prompts, drawn[name])
        )
        same = (Counter(theirs) & Counter(mine)).total()
        counts["release"] += len(theirs)
        counts["ours"] += len(mine)
        counts["equal"] += same
        counts["equal, same number"] += sum(map(str.__eq__, theirs, mine))
        if same < max(len(theirs), len(mine)):
            remarks.append(
                f"{pack.lang} {name}: {same:,} the same of {len(theirs):,} and {len(mine):,}\n"
                f"  release: {first(theirs, mine)}\n  ours: {first(mine, theirs)}"
            )
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--release", type=Path, required=True, help="checkout of the release")
    parser.add_argument("--lang", nargs="+", help="codes of ISO 639-3; all, unless given")
    options = parser.parse_args()
    packs = [read_pack(path) for path in sorted((CONFIG / "languages").glob("*.yaml"))]
    chosen = [
        pack
        for pack in packs
        if pack.lang in (options.lang or [pack.lang])
        and (options.release / "lmentry" / "tasks" / pack.resources).is_dir()
    ]
    if not chosen or len(chosen) < len({*(options.lang or ())}):
        parser.error(
            f"{options.release} lacks tasks of {', '.join(options.lang or ['any language'])}; "
            "fetch github.com/langtech-bsc/multi_lmentry at commit 0e536f48 to it."
        )
    remarks, ignored, total = [], Counter(), Counter()
    print(f"| language | {' | '.join(COLUMNS)} |\n|---{'|--:' * len(COLUMNS)}|")
    for pack in chosen:
        counts = compare(pack, options.release, remarks, ignored)
        total += counts
        print(f"| {pack.lang} | {' | '.join(f'{counts[c]:,}' for c in COLUMNS)} |", flush=True)
    print(f"| all | {' | '.join(f'{total[c]:,}' for c in COLUMNS)} |\n")
    print(*remarks, sep="\n")
    one_sided = ", ".join(f"{key} ({n:,})" for key, n in sorted(ignored.items()))
    print(f"Not compared, because only one side notes them: {one_sided or 'none'}.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run_release(*sys.argv[2:])
    else:
        main()
