"""Measure verdicts per second on answers to Multi-LMentry, and the time of hostile answers.

python benchmarks/verdicts.py [--lang eng] [--repeat 5] [--kilobytes 100]

Answers are the tests' answers for each pattern; a fifth of them are repeated with 400 characters of
explanation before or after. `prepared`: the prompt is prepared before, as for the second model that
answers it. `new`: its arguments are prepared for each verdict. The peer inserts the arguments into
each pattern, and searches the patterns one by one with Python's ``re``, as programs for single
examples do. Times are CPU times: the least of several runs, but a single run of the peer and of
each hostile answer.
"""

import argparse
import csv
import json
import re
import time
from pathlib import Path

from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging.declared import RULES, task_patterns
from blimpworks.papers.lmentry.judging.judge import Judge

ROOT = Path(__file__).resolve().parents[1]
WHY = " ".join(["It is so because of how the words are written, letter by letter, one by one."] * 5)


def hostile(kilobytes):
    """Return long texts of about this number of kilobytes, by name."""
    size = 1000 * kilobytes
    return {
        "one letter": "a" * size,
        "quotes": '"' * size,
        "nested quotes": "\"'" * (size // 4) + "x" + "'\"" * (size // 4),
        "control characters": "\x00\x01\x02\x1b" * (size // 4),
        "brackets": "(" * (size // 2) + ")" * (size // 2),
        "the answer repeated": "{answer} " * (size // 7),
        "half a pattern repeated": "the answer is " * (size // 14),
        "line breaks": "\n" * size + "x",
        "letters with accents": "é" * size,
    }


def read_answers(lang):
    path = ROOT / f"tests/data/lmentry_answers/{lang}.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    answered = [(r["task"], json.loads(r["arguments"]), r["answer"]) for r in rows]
    longer = [
        (task, arguments, f"{WHY} {answer}" if number % 2 else f"{answer} {WHY}")
        for number, (task, arguments, answer) in enumerate(answered[::5])
    ]
    return answered + longer


def cpu_seconds(work, repeat):
    spent = []
    for _ in range(repeat):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def peer(declared, examples):
    """Return a function that searches the patterns one by one, each made for the example."""
    patterns = {
        task: [f.pattern for f in task_patterns(declared, task, "published").accept]
        for task in RULES
    }

    def fill(pattern, arguments):
        pieces = re.split(r"\{(\w+)\}", pattern)
        filled = [re.escape(str(arguments.get(name, name)).lower()) for name in pieces[1::2]]
        return "".join(a + b for a, b in zip(pieces[::2], [*filled, ""], strict=True))

    def judge():
        for task, arguments, answer in examples:
            text = re.sub(" +", " ", answer.strip().lower())
            for pattern in patterns[task]:
                expression = fill(pattern, arguments)
                if re.match(expression + r"\.?$", text):
                    break
                re.search(expression, text)

    return judge


def speeds(declared, examples, repeat):
    for method in ("published", "corrected"):
        judge = Judge(declared, method)
        questions = [(judge.for_prompt(task, 1, a, "?"), text) for task, a, text in examples]
        judges = {
            "prepared": lambda questions=questions: [ask(text) for ask, text in questions],
            "new": lambda judge=judge: [judge.for_prompt(t, 1, a, "?")(x) for t, a, x in examples],
        }
        for name, work in judges.items():
            work()
            rate = len(examples) / cpu_seconds(work, repeat)
            print(f"{method:10} {name:9} {rate:10,.0f} verdicts a second")
    rate = len(examples) / cpu_seconds(peer(declared, examples), 1)
    print(f"{'peer':10} {'':9} {rate:10,.0f} verdicts a second")


def worst(declared, examples, kilobytes):
    by_task = {task: (task, arguments) for task, arguments, _ in examples}
    print(f"\n{f'{kilobytes} kB of':32} {'longest':>8}  task and method")
    for name, text in hostile(kilobytes).items():
        times = []
        for method in ("published", "corrected"):
            judge = Judge(declared, method)
            for task, arguments in by_task.values():
                ask = judge.for_prompt(task, 1, arguments, "?")
                filled = text.replace("{answer}", str(arguments.get("answer", "word")))
                times.append((cpu_seconds(lambda a=ask, f=filled: a(f), 1), method, task))
        seconds, method, task = max(times)
        print(f"{name:32} {1000 * seconds:5.0f} ms  {task}, {method}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lang", default="eng")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--kilobytes", type=int, default=100, help="size of hostile answers")
    options = parser.parse_args()
    declared = read_pack(ROOT / f"config/lmentry/languages/{options.lang}.yaml").answers
    examples = read_answers(options.lang)
    mean = sum(len(answer) for _, _, answer in examples) / len(examples)
    print(f"{options.lang}: {len(examples)} answers of {mean:.0f} characters on average")
    speeds(declared, examples, options.repeat)
    worst(declared, examples, options.kilobytes)


if __name__ == "__main__":
    main()
