"""Evaluations of few pairs, whose tables the commands make."""

import json
import math

from blimpworks.cli.scoring import compute_accuracies, judge, limit_items
from support import tiny
from support.judging_kit import write_scores

PAIRS = [(f"the good {i}", f"the bad {i}") for i in range(8)]
PHENOMENA = ["near"] * 4 + ["far"] * 4
BENCHMARK, LANG = "clams", "eng"


class Evaluation:
    """An evaluation of few pairs in the current directory, whose tables the commands make."""

    def __init__(self, folder, benchmark=BENCHMARK):
        self.folder, self.results, self.benchmark = folder, folder / "results", benchmark
        self.models = []

    def table(self, kind, name):
        path = self.results / kind / self.benchmark / name / f"{LANG}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def items(self):
        return self.results / "items" / self.benchmark / f"{LANG}.parquet"

    def write_items(self, pairs=PAIRS, phenomena=PHENOMENA):
        self.items.parent.mkdir(parents=True, exist_ok=True)
        paradigms = [f"{name}_one" for name in phenomena]
        tiny.write_items(self.items, pairs, phenomenon=phenomena, paradigm=paradigms)
        return self

    def limit(self, number):
        sampled = self.results / "sampled/items" / self.benchmark / f"{LANG}.parquet"
        sampled.parent.mkdir(parents=True)
        limit_items.callback(items=self.items, output=sampled, limit=number, unit="pair")
        return sampled

    def judge(self, margins, model="small", near_tie=0.01, items=None):
        """Judge pairs whose good sentences lead by ``margins`` nats; NaN means too long a pair."""
        scores = self.table("scores", model)
        lost = {i: "too_long" for i, margin in enumerate(margins) if math.isnan(margin)}
        write_scores(scores, [([(margin - 9.0, 3)], [(-9.0, 3)]) for margin in margins], lost)
        places = {"scores": [scores], "output": [self.table("judgements", model)]}
        rules = {"method": ["full_sentence"], "ties": ["wrong"], "near_tie": near_tie}
        judge.callback(items=[items or self.items], unknown=None, **places, **rules)
        self.models.append(model)
        return self

    def finish(self, languages=(LANG,)):
        """Compute the accuracies; ``languages`` are those of all models, or a list for each."""
        if not isinstance(languages, dict):
            languages = {model: [*languages] for model in self.models}
        judged = self.results / "judgements" / self.benchmark
        output = self.results / "accuracies" / f"{self.benchmark}.parquet"
        compute_accuracies.callback(
            judgements=judged,
            benchmark=self.benchmark,
            output=output,
            models=json.dumps(languages),
            one_more=[],
        )
        return self.folder

    def campaign(self, **settings):
        (self.folder / "campaign.yaml").write_text(json.dumps({"campaign": "mine", **settings}))
        return self
