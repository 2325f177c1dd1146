"""Compare our evaluation of the BabyLM suite with the challenge's pipeline, on the same items.

python benchmarks/babylm.py PIPELINE DATA MODEL [--backend NAME] [--count N]

PIPELINE is a checkout of babylm-org/babylm-eval. DATA is a directory with ``blimp_filtered``,
``supplement_filtered``, ``entity_tracking``, ``wug_adj_nominalization`` and ``reading`` (plain or
.xz). MODEL is in Hugging Face's layout, of the architecture of the pipeline's backend. The items
are the first N lines of each file (wug: all; reading: 200, or 10 N if that is more, and all words
without a context). The table has the decisions that differ, and how many of them are near ties.

The pipeline runs unchanged, with one call a task, as in its ``eval_zero_shot.sh``; ours is one
``blimpworks evaluate --suite``. Both times include the start of Python and loading the model.

The pipeline's encoder-decoder backends need a change of commit 45fe2c1: in its ``dataset.py``,
``item[1].get(f'sentence_{sentence_idx}_image')`` in place of the index, which texts do not have.
"""

import argparse
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from kit import REPOSITORY

from blimpworks.judging.sample import item_key

TASKS = {
    "babylm_blimp": ("blimp", "blimp_filtered"),
    "babylm_supplement": ("blimp", "supplement_filtered"),
    "babylm_entity_tracking": ("entity_tracking", "entity_tracking"),
    "babylm_wug_adjectives": ("wug_adj", "wug_adj_nominalization"),
}
"""Task and folder of the pipeline, by our benchmark."""
READING = "babylm_reading"
SCORING = {"causal": [], "mlm": []}
SCORING |= {name: ["--scoring", name] for name in ("mntp", "enc_dec_mask", "enc_dec_prefix")}
"""Options of ``blimpworks evaluate``, by backend of the pipeline."""


def first_lines(path, count):
    """Return the first ``count`` lines of a plain or compressed file; all if it is None."""
    open_text = lzma.open if path.suffix == ".xz" else open
    with open_text(path, "rt", encoding="utf-8") as file:
        return [line for number, line in enumerate(file) if count is None or number < count]


def write_data(data, folder, count):
    """Write declared benchmarks into ``folder``, with local files that the pipeline reads too."""
    for name, (task, subset) in (TASKS | {READING: ("reading", "reading")}).items():
        files = folder / name / "babylm" / subset
        files.mkdir(parents=True)
        if task == "reading":
            # Words without a context are always taken, to test that the declaration mends them.
            (path,) = (data / subset).glob("*.csv*")
            without_context = [line for line in first_lines(path, None) if re.match(r"\d+,,", line)]
            first = first_lines(path, 1 + max(200, 10 * count))
            target = files / path.name.removesuffix(".xz")
            target.write_text("".join(dict.fromkeys((*first, *without_context))), encoding="utf-8")
        for path in sorted((data / subset).glob("*.jsonl*")):
            lines = first_lines(path, None if task == "wug_adj" else count)
            target = files / path.name.removesuffix(".xz")
            target.write_text("".join(lines), encoding="utf-8")
        declared = (REPOSITORY / "config/benchmarks" / name / "benchmark.yaml").read_text()
        kept = [line for line in declared.splitlines() if not line.startswith("items:")]
        (folder / name / "benchmark.yaml").write_text("\n".join(kept) + "\n", encoding="utf-8")


def run(command, **options):
    """Run a command; return its wall seconds. Ends the benchmark if the command fails."""
    begun = time.perf_counter()
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return time.perf_counter() - begun


def theirs(pipeline, model, backend, folder, name, output):
    """Run the pipeline; return wall seconds, its printed result, and chosen texts by group."""
    task, subset = TASKS[name]
    seconds = run(
        [sys.executable, "-m", "evaluation_pipeline.sentence_zero_shot.run", "--save_predictions",
         "--model_path_or_name", model, "--backend", backend, "--task", task,
         "--data_path", folder / name / "babylm" / subset, "--output_dir", output],
        cwd=pipeline / "strict", env=os.environ | {"PYTHONPATH": "."},
    )  # fmt: skip
    (report,) = output.rglob(f"{subset}/best_temperature_report.txt")
    number = float(report.read_text().strip().splitlines()[-1])
    predictions = json.loads((report.parent / "predictions.json").read_text())
    return (
        seconds,
        number,
        {u: [p["pred"] for p in e["predictions"]] for u, e in predictions.items()},
    )


def compare_reading(pipeline, model, backend, folder, out, rows):
    """Print both results and the largest gap of surprisals in nats; return the pipeline's time."""
    results = folder / "theirs"
    seconds = run(
        [sys.executable, "-m", "evaluation_pipeline.reading.run", "--model_path_or_name", model,
         "--backend", "enc_dec" if backend.startswith("enc_dec") else backend,
         "--output_dir", results,
         "--data_path", folder / READING / "babylm/reading/reading_data.csv"],
        cwd=pipeline / "strict", env=os.environ | {"PYTHONPATH": "."},
    )  # fmt: skip
    (report,) = results.rglob("reading/report.txt")
    eye_tracking, self_paced = (float(line.split()[-1]) for line in report.read_text().splitlines())
    predictions = json.loads((report.parent / "predictions.json").read_text())["reading"]
    theirs = [row["pred"] for row in predictions["predictions"]]
    (path,) = out.glob(f"results/judgements/{READING}/*/eng.parquet")
    judged = pd.read_parquet(path)
    (items,) = out.glob(f"results/items/{READING}/eng.parquet")
    order = pd.read_parquet(items)["item"].drop_duplicates()
    judged = judged[judged["method"] == judged["method"].iloc[0]].set_index("item_id").loc[order]
    ours = [dict(zip(*row, strict=True))["surprisal"] for row in
            zip(judged["effect_names"], judged["effects"], strict=True)]  # fmt: skip
    gap = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    for label, number in (("Eye tracking", eye_tracking), ("Self-paced reading", self_paced)):
        ((of_model,),) = (row["models"].values() for row in rows if row["label"] == label)
        print(
            f"| {label} | {of_model['n']:,} | {100 * of_model['value']:.2f} | {number:.2f} | "
            f"surprisals at most {gap:.1g} nats | | {seconds:.0f} |"
        )
    return seconds


def expected(folder, name):
    """Return the right texts by group of the pipeline, in the order of the files' lines."""
    right = {}
    task, subset = TASKS[name]
    for path in sorted((folder / name / "babylm" / subset).glob("*.jsonl")):
        for line in first_lines(path, None):
            row = json.loads(line)
            group, good = row.get("UID", path.stem), row.get("sentence_good")
            if task == "entity_tracking":
                group, good = f"{path.stem}_{row['numops']}_ops", row["options"][0]
            elif task == "wug_adj":
                group, good = task, row["sentences"].split("\t")[0]
            right.setdefault(group, []).append(good)
    return right


def decisions(out, name):
    """Return our judgements, grouped by paradigm, in the order of the files' lines."""
    (path,) = out.glob(f"results/judgements/{name}/*/eng.parquet")
    (items,) = out.glob(f"results/items/{name}/eng.parquet")
    rows = pd.read_parquet(path)
    table = pd.read_parquet(items)
    # An item of several conditions has a row in the table for each condition.
    order = table[item_key(table.columns)].drop_duplicates()
    rows = rows[rows["method"] == rows["method"].iloc[0]].set_index("item_id").loc[order]
    return rows.groupby("paradigm", sort=False, observed=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--backend", default="causal", choices=SCORING)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = shutil.copytree(options.model, folder / "model")
        write_data(options.data.resolve(), folder, options.count)
        named = ",".join(str(folder / benchmark) for benchmark in (*TASKS, READING))
        out = folder / "ours"
        our_seconds = run(
            [sys.executable, "-m", "blimpworks", "evaluate", model, "--benchmarks", named,
             "--suite", "babylm-strict", "--data", "embedded", "--cores", options.cores,
             "--out", out, *SCORING[options.backend]]
        )  # fmt: skip
        card = json.loads((out / "results/report_card/card.json").read_text())
        rows = {row["benchmark"]: row for row in card["suite"]["rows"]}
        print(
            "| task | items | blimpworks | pipeline | different decisions | near ties among them "
            "| pipeline, s |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|")
        total = 0.0
        for benchmark in TASKS:
            if options.backend == "enc_dec_prefix" and benchmark == "babylm_wug_adjectives":
                continue  # the pipeline fails: it scores one sentence of each pair
            seconds, number, chosen = theirs(
                options.pipeline.resolve(),
                model,
                options.backend,
                folder,
                benchmark,
                folder / "theirs",
            )
            total += seconds
            right = expected(folder, benchmark)
            count = changed = near = 0
            for paradigm, judged in decisions(out, benchmark):
                group = paradigm if paradigm in right else next(iter(right))
                their_verdicts = [
                    text == good for text, good in zip(chosen[group], right[group], strict=True)
                ]
                differ = (judged["margin"] >= 0).to_numpy() != their_verdicts
                count, changed = count + len(judged), changed + int(differ.sum())
                near += int((differ & judged["near_tie"].to_numpy()).sum())
            (of_model,) = rows[benchmark]["models"].values()
            scale = 1 if rows[benchmark]["measure"] == "correlation" else 100
            print(
                f"| {rows[benchmark]['label']} | {count:,} | {scale * of_model['value']:.2f} | "
                f"{number:.2f} | {changed} | {near} | {seconds:.0f} |"
            )
        total += compare_reading(
            options.pipeline.resolve(), model, options.backend, folder, out, card["suite"]["rows"]
        )
        times = total / our_seconds
        print(
            f"\nBlimpworks {our_seconds:.0f} s, pipeline {total:.0f} s: {times:.1f} times as fast"
        )


if __name__ == "__main__":
    main()
