"""Compare verdicts on Multi-LMentry (``published``) with those of the authors' code.

python benchmarks/release_verdicts.py --release DIR [--lang LANG ...] [--answers 20000] [--seed 1]

DIR is a checkout of github.com/langtech-bsc/multi_lmentry at commit 0e536f48, with the requirements
in release_prompts.py. Its scorers run unchanged, in a process for each language.

The answers test edge cases of the rules. Prompts with odd arguments (marks, capitals, one letter,
one argument inside another) are drawn more often. Most answers are drawn from the expressions that
the authors' scorers try on the prompt, some from another prompt's, and some are plain. Two thirds
are then changed one to three times: exchanged arguments, added or removed words or marks, case,
lines, text before or after. Answers at which the release fails, because an argument makes an
invalid expression, are counted separately.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from re import _parser

from release_prompts import CONFIG, ENVIRONMENT, ours, task_of

from blimpworks.papers.lmentry.items.packs import read_pack
from blimpworks.papers.lmentry.judging.declared import RULES
from blimpworks.papers.lmentry.judging.judge import Judge

BEHIND = ["!", ".", "?", "...", "\n", "\n\nwhy?", ";", '"', "'", ")", "*", "**", "_", "a", "s", "é"]
BEHIND += [
    "입니다",
    "。",
    ":",
    "!!",
    ".\n",
    "</s>",
    ",",
    "\t",
    " because it is.",
    ", yes",
    " x",
    " 3",
]
BEFORE = ["the ", '"', "'", "**", "- ", "1. ", "So, ", "a", "\n", "(", "_", "¿", "“", "é", ": "]
AROUND = ['""', "''", "“”", "«»", "**", "__", "()", "[]", "..", ",,"]
SPACES = ["  ", "\n", "\u00a0", "_", "", "\t", ", "]
PLAIN = ["{a}", '"{a}"', "{a}.", "{a}!", "{a} {a}", "{a} {b}", "{b}", "({a})", "« {a} »", "{a}?"]
PLAIN += ["x", "", "...", "1", "no", "yes", "가", "{a}-{b}", "{a}, {b}", "{b}.", "{a}/{b}", "-{a}"]
CLASSES = {"DIGIT": "37", "WORD": "bñ3가", "SPACE": " \n", "NOT_WORD": " -."}


class Recorder:
    """A replacement of the module ``re`` that notes the expressions of its calls."""

    def __init__(self):
        self.expressions = {}

    def __getattr__(self, name):
        return getattr(re, name)

    def match(self, expression, *arguments, **options):
        self.expressions[expression] = None
        return re.match(expression, *arguments, **options)

    def search(self, expression, *arguments, **options):
        self.expressions[expression] = None
        return re.search(expression, *arguments, **options)


def sample(tree, rng):
    """Draw a text that matches a parsed regular expression."""
    text = ""
    for operator, value in tree:
        match str(operator):
            case "LITERAL":
                text += chr(value)
            case "ANY" | "NOT_LITERAL":
                text += rng.choice("x aé.")
            case "IN":
                text += of_class(value, rng)
            case "BRANCH":
                text += sample(rng.choice(value[1]), rng)
            case "SUBPATTERN":
                text += sample(value[3], rng)
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, repeated = value
                most = min(int(most), least + 3)
                number = rng.choice([least, least, most, rng.randint(least, most)])
                # Marks may stand around every argument; half of them have none.
                if least == 0 and str(repeated[0][0]) == "IN" and rng.random() < 0.5:
                    number = 0
                text += "".join(sample(repeated, rng) for _ in range(number))
    return text


@lru_cache(maxsize=60_000)
def parsed(expression):
    """Return a parsed regular expression; None if an argument makes it invalid."""
    try:
        return _parser.parse(expression)
    except re.error:
        return None


def of_class(members, rng):
    """Draw a character of a class of a regular expression."""
    drawn = []
    for operator, value in members:
        match str(operator):
            case "NEGATE":
                return rng.choice([" ", " ", ",", ", ", "-", "!", "é", "\n"])
            case "LITERAL":
                drawn.append(chr(value))
            case "RANGE":
                drawn += [chr(rng.randint(*value)) for _ in range(3)]
            case "CATEGORY":
                drawn += CLASSES[str(value).removeprefix("CATEGORY_")]
    return rng.choice(drawn)


def texts_of(arguments):
    """Return the arguments of a prompt that an answer may contain."""
    texts = [value for key, value in arguments.items() if key != "word_pos_tags"]
    texts = [x for value in texts for x in (value if isinstance(value, list) else [value])]
    return [str(x) for x in texts if x and isinstance(x, str | int)] or ["x"]


def oddity(prompt):
    """Return the weight of a prompt in the draw, which is higher for odd arguments."""
    texts = [x for x in texts_of(prompt["metadata"]) if len(x) < 25]
    inside = any(a != b and a.lower() in b.lower() for a in texts for b in texts)
    return (
        1
        + 6 * any(re.search(r"[^\w ]", x) for x in texts)
        + 2 * any(len(x) < 3 for x in texts)
        + any(x != x.lower() for x in texts)
        + 2 * any(" " in x for x in texts)
        + 4 * inside
    )


def change(text, arguments, foreign, rng):
    """Return an answer with one random change, to which ``foreign`` arguments may contribute."""
    start = rng.randrange(len(text) + 1)
    word, tokens = rng.choice(arguments), text.split(" ")
    index, at = rng.randrange(len(tokens)), text.lower().find(word.lower())
    before, after = text[:at], text[at + len(word) :]
    ways = [
        text + rng.choice(BEHIND),
        rng.choice(BEFORE) + text,
        rng.choice([text.upper(), text.title(), text.capitalize(), text.swapcase()]),
        text.replace(" ", rng.choice(SPACES), rng.choice([1, 1, 50])),
        " ".join(tokens[:index] + tokens[index + 1 :]),
        " ".join(tokens[: index + 1] + tokens[index:]),
        " ".join([*tokens[:index], word, *tokens[index:]]),
        text[:start] + rng.choice(list("xZé7- \n가.,'\"?!:")) + text[start:],
        text[:start] + text[start + 1 :],
        text + rng.choice([" ", ". ", "\n", ", "]) + word,
        word + rng.choice([" ", ": ", "\n", ", ", " - "]) + text,
        text + rng.choice(["\n", ". ", " "]) + text,
        text.replace(",", "").replace('"', ""),
        text[:start],
    ]
    if at >= 0:
        marks = rng.choice(AROUND)
        ways += [before + rng.choice(arguments + foreign) + after] * 2
        ways.append(before + marks[0] + text[at : at + len(word)] + marks[1] + after)
    return rng.choice(ways)


def run_release(release, code, number, seed):
    """Print random answers to prompts from standard input, each with the score of the release."""
    sys.path.insert(0, release)
    import_module("lmentry.constants").initialize_variables(code)
    re._MAXCACHE = re._MAXCACHE2 = 60_000  # each prompt has hundreds of expressions
    rng, recorder = random.Random(int(seed)), Recorder()
    prompts = json.load(sys.stdin)
    foreign_expression = "x"
    for task, pool in prompts.items():
        re.purge()
        scorer_class = task_of(code, task).scorer_cls
        scorer = scorer_class()
        for base in scorer_class.__mro__[:-1]:
            sys.modules[base.__module__].re = recorder
        tried = {}
        for _ in range(int(number) // len(prompts)):
            index = rng.randrange(len(pool))
            prompt = pool[index]
            arguments = prompt["metadata"]
            if index not in tried:
                recorder.expressions = {}
                mixture = " ".join([*texts_of(arguments), "zqz", "9"])
                for text in (mixture, mixture.lower(), f'qq1 "{mixture}" zz9'):
                    with suppress(re.error):
                        scorer.score_prediction(text, prompt)
                tried[index] = [*filter(parsed, recorder.expressions)] or ["x"]
            way, texts = rng.random(), texts_of(arguments)
            if way < 0.12:
                gold = arguments.get("answer", rng.choice(texts))
                text = rng.choice(PLAIN).format(a=gold, b=rng.choice(texts))
            else:
                expression = foreign_expression if way < 0.2 else rng.choice(tried[index])
                text = sample(parsed(expression), rng)
            foreign_expression = rng.choice(tried[index])
            foreign = texts_of(rng.choice(pool)["metadata"])
            if "letter" in arguments:
                word = "".join(rng.choices("aeiklnrst", k=5))
                foreign += [word, arguments["letter"] + word, word + arguments["letter"]]
            for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
                text = change(text, texts, foreign, rng)
            try:
                score = int(scorer.score_prediction(text, prompt)[0] or 0)
            except re.error:
                score = None
            print(json.dumps([task, index, text, score]))


def compare(pack, options):
    """Print the share of answers with the same score; print others to the standard error."""
    release, number, seed = options.release, options.answers, options.seed
    rng, pools = random.Random(seed), defaultdict(list)
    for task, prompts in ours(release, pack).items():
        if task in (options.task or RULES):
            rows = [
                {"input": text, "metadata": arguments | {"template_id": template - 1}}
                for template, text, arguments in prompts
            ]
            pools[task] = rng.choices(rows, map(oddity, rows), k=30) + rng.choices(rows, k=15)
    command = [sys.executable, __file__, "--one", release, pack.resources, str(number), str(seed)]
    done = subprocess.run(
        command, env=os.environ | ENVIRONMENT, input=json.dumps(pools), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{release} doesn't run for {pack.lang}: {done.stderr.splitlines()[-1]}")
    judge, differing, answers = Judge(pack.answers, "published"), defaultdict(list), Counter()
    failed = 0
    for line in done.stdout.splitlines():
        if not line.startswith("["):
            continue
        task, index, text, score = json.loads(line)
        if score is None:
            failed += 1
            continue
        prompt = pools[task][index]
        template = prompt["metadata"]["template_id"] + 1
        verdict = judge.for_prompt(task, template, prompt["metadata"], prompt["input"])(text)
        answers[task] += 1
        if verdict.correct != bool(score):
            differing[task].append((text, score, verdict.rule, texts_of(prompt["metadata"])))
    if not answers:
        raise SystemExit(f"{release} fails at all {failed} answers of {pack.lang}.")
    same = answers.total() - sum(map(len, differing.values()))
    share = 100 * same / answers.total()
    print(f"| {pack.lang} | {answers.total():,} | {same:,} | {share:.3f} | {failed} |", flush=True)
    for task, rows in differing.items():
        print(f"  {task}: {len(rows)} of {answers[task]}", file=sys.stderr)
        for row in rows[: options.shown]:
            print("   ", json.dumps(row, ensure_ascii=False), file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--release", type=Path, required=True, help="checkout of the release")
    parser.add_argument("--lang", nargs="+", help="codes of ISO 639-3; all, unless given")
    parser.add_argument("--task", nargs="+", choices=RULES, help="all, unless given")
    parser.add_argument("--answers", type=int, default=20_000, help="answers of each language")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shown", type=int, default=3, help="differing answers of each task")
    options = parser.parse_args()
    tasks = options.task or RULES
    if options.answers < len(tasks):
        parser.error(
            f"--answers is {options.answers}; expected one for each of {len(tasks)} tasks."
        )
    packs = [read_pack(path) for path in sorted((CONFIG / "languages").glob("*.yaml"))]
    scorers = options.release / "lmentry" / "scorers"
    chosen = [
        pack
        for pack in packs
        if pack.lang in (options.lang or [pack.lang]) and (scorers / pack.resources).is_dir()
    ]
    if not chosen:
        parser.error(
            f"{options.release} lacks scorers of {', '.join(options.lang or ['any language'])}; "
            "fetch github.com/langtech-bsc/multi_lmentry at commit 0e536f48 to it."
        )
    print("| language | answers | same score | % | release fails |\n|---|--:|--:|--:|--:|")
    for pack in chosen:
        compare(pack, options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run_release(*sys.argv[2:])
    else:
        main()
