"""Compare scores of tiny models of every architecture by the product with those of a plain loop.

``python -m support.architectures [MODEL_TYPE …] --out TABLE`` writes how they compare; ``--document
TABLE …`` makes docs/models.md of such tables.
"""

import argparse
import contextlib
import logging
import os
import re
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import torch
import transformers
from tokenizers import Tokenizer

from blimpworks.campaign.settings.scoring import ScoringOptions, Seq2seqOptions
from blimpworks.errors import UserError
from blimpworks.models.checkpoint import Description
from blimpworks.models.facts import UserChoice, facts_of
from blimpworks.models.retrieve import take_local
from blimpworks.scoring.run import score_items
from support import tiny
from support.paths import REPOSITORY
from support.tiny_architectures import PAIRS, TEXTS, build, entries, form_of

DOCUMENT = REPOSITORY / "docs" / "models.md"
SPREADS_OF = {"float32": (0.3, 0.1, 0.05), "bfloat16": (0.02,)}
"""Standard deviations of weights by number format; wide weights make a leak large."""
NUMBERS_OF_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
NOT_FINITE = "its scores are not finite"

TITLES = {
    "causal": "Causal models",
    "masked": "Masked models",
    "encoder-decoder": "Encoder-decoders",
    "multimodal": "Models that see pictures, by their text",
}
INTRODUCTION = """
# Which models are scored

What the engine `transformers` does with a tiny random model of each architecture that
transformers {version} knows. Made with `PYTHONPATH=src:tests` by
`python -m support.architectures --out table.tsv` and then
`python -m support.architectures --document table.tsv`; `make test-long` finds what is not current.

*Right* means: each token's log-probability is that of a plain loop with one sentence in each
pass. They agree within 0.0002 nats in float32, and in bfloat16 within the rounding of that loop.
Attention windows are shorter than the sentences, whose beginnings are shared or not. *Refused*
means: scoring ends with a sentence and no number. *Not built* means: no tiny model of the class
could be made. *(is_decoder)* is the class as a decoder.

In float32: {counts}.
How each kind of model is scored is in [transformers](transformers.md).
"""


class Verdict(NamedTuple):
    outcome: str
    """Right, refused, wrong, traceback or not built."""
    detail: str


def run_model(model, **inputs):
    """Run a model on one row; return log-probabilities [tokens, vocabulary] in float32."""
    inputs = {name: torch.tensor([ids]) for name, ids in inputs.items()}
    try:
        output = model(**inputs, use_cache=False)
    except TypeError:
        output = model(**inputs)
    logits = output.logits if hasattr(output, "logits") else output[0]
    return logits[0].float().log_softmax(-1)


class Reference:
    """A plain loop, which gives the model one sentence, or one masked copy of it, in each pass."""

    def __init__(self, entry, config, directory, dtype):
        """Load the model with its own class; raise ValueError if weights are missing."""
        load = getattr(transformers, entry.name).from_pretrained
        self.model, info = load(directory, dtype=dtype, output_loading_info=True)
        self.model.eval()
        if info["missing_keys"]:
            raise ValueError(f"not loaded again: {sorted(info['missing_keys'])[:3]}")
        self.tokenizer = Tokenizer.from_file(f"{directory}/tokenizer.json")
        self.config = config
        self.form = form_of(entry, config)
        self.masked = entry.mapping == "masked"
        self.before, self.after = {
            "causal": ([1], []), "framed": ([1], [2]), "sentinel": ([], [2])
        }[self.form]  # fmt: skip

    @torch.inference_mode()
    def of_ids(self, ids, form):
        """Return the log-probabilities [tokens] of a sentence's ids."""
        rows = torch.arange(len(ids))
        if self.masked:
            return [self._masked(ids, token) for token in range(len(ids))]
        if not self.config.is_encoder_decoder:
            normal = run_model(self.model, input_ids=[*self.before, *ids])
            return normal[len(self.before) - 1 + rows, ids].tolist()
        start = self.model.config.decoder_start_token_id
        if form == "target":
            decoder = [start, *self.before, *ids]
            normal = run_model(
                self.model, input_ids=[*self.before, *self.after], decoder_input_ids=decoder
            )
            return normal[len(self.before) + rows, ids].tolist()
        sentinel = self.tokenizer.token_to_id("<extra_id_0>")
        values = []
        for token, target in enumerate(ids):
            masked = [*ids[:token], sentinel, *ids[token + 1 :], *self.after]
            normal = run_model(self.model, input_ids=masked, decoder_input_ids=[start, sentinel])
            values.append(normal[1, target].item())
        return values

    def _masked(self, ids, token):
        masked = [*self.before, *ids[:token], 4, *ids[token + 1 :], *self.after]
        return run_model(self.model, input_ids=masked)[len(self.before) + token, ids[token]].item()

    def scores(self, form):
        encodings = self.tokenizer.encode_batch(TEXTS, add_special_tokens=False)
        rows = [self.of_ids(encoding.ids, form) for encoding in encodings]
        return dict(zip(TEXTS, rows, strict=True))

    def objection(self):
        """Return why the model's numbers are no probabilities of sentences, or None if they are."""
        ids = self.tokenizer.encode(TEXTS[0], add_special_tokens=False).ids
        whole = self.of_ids(ids, "target")
        if not np.isfinite(whole).all():
            return NOT_FINITE
        if not np.allclose(whole, self.of_ids(ids, "target"), atol=1e-4):
            return "two passes differ"
        if self.masked:
            return None
        for length in (len(ids) // 2, len(ids) - 2):
            if not np.allclose(whole[:length], self.of_ids(ids[:length], "target"), atol=1e-3):
                return "not causal"
        return None


def product_scores(directory, architecture, dtype="float32", options=None, pairs=PAIRS):
    """Score a model's directory by the product; return log-probabilities by sentence."""
    work = directory.parent
    facts = facts_of(directory, UserChoice(architecture))
    own = {"architecture": facts.architecture, "dtype": dtype, "first_token": facts.first_token}
    described = Description(name="tiny", scope="multi", **own)
    checkpoint = work / "model" / "checkpoint.json"
    take_local(directory, described, checkpoint)
    items = tiny.write_items(work / "eng.parquet", pairs)
    shutil.rmtree(work / "shards", ignore_errors=True)
    store, manifest = work / "shards", work / "manifest.json"
    score_items([items], checkpoint, store, manifest, "transformers", options or ScoringOptions())
    rows = [row for path in store.glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    failed = [f"{row['status']}: {row['text']}" for row in rows if row["status"] != "ok"]
    if failed:
        raise UserError(f"{len(failed)} of {len(rows)} sentences are not scored ({failed[0]})")
    return {row["text"]: row["logprobs"] for row in rows}


def flat(scores):
    return np.concatenate([scores[text] for text in TEXTS])


def difference(left, right):
    return flat(left) - flat(right)


def ways(config, form):
    if config.is_encoder_decoder:
        forms = ["masked", "target"] if form == "sentinel" else ["target"]
        return [ScoringOptions(seq2seq=Seq2seqOptions(form=name)) for name in forms]
    if form == "framed":
        return [ScoringOptions()]
    return [ScoringOptions(sharing=sharing) for sharing in ("never", "always")]


def compare(entry, dtype, directory, truth, plain):
    """Compare the product's scores of a model with the loop's, in each way of scoring."""
    details, exceeded = [], 0
    for options in ways(truth.config, truth.form):
        scores = product_scores(directory, entry.architecture, dtype, options)
        exact = truth.scores(options.seq2seq.form)
        error = difference(scores, exact)
        way = f"sharing {options.sharing}" if truth.form == "causal" else options.seq2seq.form
        if dtype == "float32":
            details.append(f"{way}: {np.abs(error).max():.2g}")
            right = np.allclose(*map(flat, (scores, exact)), rtol=2e-5, atol=2e-4)
        else:
            alone = plain.scores(options.seq2seq.form)
            noise = max(spread_of(difference(alone, exact)) + 1e-5, exceeded)
            exceeded = max(exceeded, spread_of(error))
            size = np.abs(difference(scores, alone)).max()
            details.append(f"{way}: {size:.2g}, {exceeded / noise:.2g} x the noise {noise:.2g}")
            # Scores of a mixture of experts depend on the batch; shared prefixes add no difference.
            text = truth.config.get_text_config()
            mixture = any((getattr(text, name, 0) or 0) > 1 for name in NUMBERS_OF_EXPERTS)
            batch = mixture and len(details) == 1
            right = spread_of(error) < (4 if batch else 2) * noise
        if not right:
            return Verdict("wrong", "; ".join(details))
    return Verdict("right", "; ".join(details))


def spread_of(differences):
    return float(np.sqrt((differences**2).mean()))


def judge(entry, dtype, directory, config):
    """Judge the product's scores of a model in one number format."""
    form = form_of(entry, config)
    try:
        truth = Reference(entry, config, directory, torch.float32)
        reason = truth.objection()
        plain = truth if dtype == "float32" else Reference(entry, config, directory, torch.bfloat16)
        for options in ways(config, form):
            plain.scores(options.seq2seq.form)
    except Exception as error:
        reason = f"transformers cannot run it: {short(error)}"
    try:
        if reason is None:
            return compare(entry, dtype, directory, truth, plain)
        product_scores(directory, entry.architecture, dtype, ways(config, form)[0])
        return Verdict("wrong", f"scored, but {reason}")
    except UserError as error:
        return Verdict("refused", str(error).replace(str(directory.parent), "DIR"))
    except Exception as error:
        return Verdict("traceback", f"{short(error)} ({reason or 'transformers runs it'})")


def short(error):
    """Return an exception as a line, with the file and line number that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {words} ({Path(last.filename).name}:{last.lineno})"


def verdict(entry, dtype):
    """Build one architecture and judge the product's scores of it."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "hub"
        for spread in SPREADS_OF[dtype]:
            try:
                config = build(entry, spread, directory)
            except Exception as error:
                return Verdict("not built", short(error))
            with contextlib.suppress(Exception):
                if Reference(entry, config, directory, torch.float32).objection() == NOT_FINITE:
                    continue
            break
        return judge(entry, dtype, directory, config)


def row(title, model_type, verdicts):
    """Return a line of the document's table: the outcomes, then why there are no scores."""
    (first, why), (second, other) = verdicts
    outcome = first if first == second else f"{first}; in bfloat16 {second}"
    reason = "" if first == "right" == second else why if first != "right" else other
    # Messages are cut to what all machines have in common.
    bare = re.sub(r"^DIR\S*:? |\(\S+\.py:\d+\)|;.*", "", " ".join(reason.split()))
    escaped = bare.replace("|", r"\|").replace("<", r"\<").strip()[:160]
    return f"| `{title}` | `{model_type}` | {outcome} | {escaped} |"


def document(tables):
    """Return the text of docs/models.md from tables of verdicts; later tables count."""
    judged = {}
    for line in [line for path in tables for line in path.read_text("utf-8").splitlines()]:
        mapping, model_type, title, dtype, *verdict = line.split("\t")
        judged.setdefault((mapping, title, model_type), {})[dtype] = Verdict(*verdict)
    sections = []
    for mapping, heading in TITLES.items():
        lines = [
            row(*names, [verdicts[dtype] for dtype in SPREADS_OF])
            for (table, *names), verdicts in judged.items()
            if table == mapping
        ]
        table = ["| class | model type | scores | why not |", "|---|---|---|---|", *lines]
        sections.append(f"## {heading}\n\n" + "\n".join(table))
    counts = Counter(verdicts["float32"].outcome for verdicts in judged.values())
    intro = INTRODUCTION.format(
        version=version("transformers"),
        counts=", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items())),
    )
    return "\n\n".join([intro.strip(), *sections]) + "\n"


def main():
    """Print a row for each architecture and number format, or write the document of such rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="model types or classes; all without any")
    parser.add_argument("--out", type=Path, help="table of verdicts; else they are printed")
    parser.add_argument("--document", nargs="+", type=Path, help="tables to write models.md from")
    arguments = parser.parse_args()
    if arguments.document:
        DOCUMENT.write_text(document(arguments.document), encoding="utf-8")
        return
    quiet()
    out = arguments.out.open("w") if arguments.out else sys.stdout
    for entry in entries(arguments.names):
        for dtype in SPREADS_OF:
            cells = (entry.mapping, entry.model_type, entry.title, dtype, *verdict(entry, dtype))
            print("\t".join(" ".join(cell.split()) for cell in cells), file=out, flush=True)


def quiet():
    """Silence warnings and progress bars, so that only rows are printed."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    logging.disable(logging.WARNING)
    os.environ["TQDM_DISABLE"] = "1"


if __name__ == "__main__":
    main()
