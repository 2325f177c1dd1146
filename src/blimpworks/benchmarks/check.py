"""Find faults in a benchmark's items, and write them with the items as one page."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import langcodes
import pandas as pd
from jinja2 import Environment, FileSystemLoader

from blimpworks.analysis.accuracy import wilson
from blimpworks.analysis.baselines import GROUP, ahead, baseline_rows, frequency, frequency_code
from blimpworks.benchmarks.build import read_items
from blimpworks.benchmarks.designs import SENTENCE, Condition, Design
from blimpworks.benchmarks.differences import count_words, pattern, plain, same_but_for
from blimpworks.benchmarks.files import local_files, rows_in
from blimpworks.benchmarks.layouts import Item, by_paradigm
from blimpworks.benchmarks.paper import Declared
from blimpworks.benchmarks.predictions import Prediction, chance_of
from blimpworks.benchmarks.preview import counted, source_files
from blimpworks.benchmarks.readers import Account
from blimpworks.errors import UserError
from blimpworks.files import write_text
from blimpworks.items import evenly

ERROR, WARNING, NOTE = SEVERITIES = ("error", "warning", "note")
RARE, REGULAR = 0.1, 10
"""Share below which a pattern is an outlier, and pairs that a paradigm needs for outliers."""
LENGTHS = (1024, 512)
"""Limits of common models, in tokens."""
TOGETHER = 6
"""Locations of one finding in a line."""
SENTENCES = ("good", "bad", "first", "second", "sentence")
"""Keys of declarations that name columns with sentences."""
ASSETS = Path(__file__).parent / "assets"
TEXTS = ("lang", "paradigm", "mostly")
LEGEND = (
    "mostly: how the bad sentence comes from the good one in most pairs, and their share. "
    "characters, words, tokens, Zipf (frequency of words): means of good and of bad sentences. "
    "longer, shorter, frequent, majority, chance: what these baselines get right."
)
Segments = list[tuple[str, str | None]]
"""Texts that make up a sentence, each with the name of its region, or None outside of regions."""
Thing = Item | Design
DECISIVE, FEWEST = 0.75, 20
"""Share of pairs from which one measure decides alone, and pairs that this needs."""
PER_WORD = 1.5
"""Tokens of a word, without a tokenizer."""
CountTokens = Callable[[Sequence[str]], list[int]]


def token_counter(path: Path) -> CountTokens:
    """Read a tokenizer.json (or a model directory's) to count tokens; UserError without one."""
    file = path / "tokenizer.json" if path.is_dir() else path
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(file))
    except ModuleNotFoundError as error:
        raise UserError("tokenizers is not installed; install blimpworks[train].") from error
    # The library raises bare exceptions.
    except Exception as error:
        raise UserError(
            f"{file} is no tokenizer that can be read ({error}); name a tokenizer.json."
        ) from error

    def count(sentences: Sequence[str]) -> list[int]:
        encodings = tokenizer.encode_batch([*sentences], add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    return count


def _compared(
    rows: pd.DataFrame, lang: str, count: CountTokens | None
) -> Iterator[tuple[str, str, str]]:
    """Yield name and means of each measure of a paradigm, and its direction if it decides alone.

    It decides by the share of pairs whose good sentence has more; equal ones count half.
    """
    paired = bool(rows["acceptable"].isna().all())
    sides = rows["good"], rows["bad"]
    if not paired:
        accepted = rows["acceptable"].astype(bool)
        sides = rows["good"][accepted], rows["good"][~accepted]
    if not all(map(len, sides)) or rows["chance"].notna().any():
        return
    functions: dict[str, Callable[[pd.Series], Any]] = {
        "characters": lambda sentences: sentences.str.len(),
        "words": lambda sentences: sentences.map(count_words),
    }
    if count:
        functions["tokens"] = lambda sentences: count([*sentences])
    if code := frequency_code(lang):
        functions["Zipf"] = lambda sentences: sentences.map(lambda s: frequency(s, code))
    for name, function in functions.items():
        good, bad = (pd.Series([*function(side)], dtype=float) for side in sides)
        n = min(len(good), len(bad))
        if paired:
            right = ahead(good, bad)
        else:
            ranks = pd.concat([good, bad]).rank()[: len(good)]
            right = float(ranks.sum() - len(good) * (len(good) + 1) / 2) / max(len(good), len(bad))
        share, (low, high), reason = right / n, wilson(right, n), ""
        far = share >= DECISIVE or share <= 1 - DECISIVE
        if far and n >= FEWEST and not low <= 0.5 <= high:
            more = share >= 0.5
            if name == "Zipf":
                direction = "more frequent words" if more else "rarer words"
            else:
                direction = f"{'more' if more else 'fewer'} {name}"
            if not more:
                share, low, high = 1 - share, 1 - high, 1 - low
            reason = f"{direction} {100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
        yield name, f"{good.mean():.1f} : {bad.mean():.1f}", reason


def _chance(item: Design) -> float | None:
    """Return the probability of a right answer; None for an item of effects alone."""
    if not item.predictions:
        return None
    if item.right == "mean":
        return fmean(chance_of((formula,)) for formula in item.predictions)
    return chance_of(item.predictions)


def measures(
    items: Sequence[Thing], patterns: Sequence[str], count: CountTokens | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Measure each paradigm; return a row of each, and those that one measure decides alone.

    ``patterns`` say how the sentences of each pair differ; they are empty for items without pairs.
    """
    frame = pd.DataFrame(
        {
            **{name: getattr(item, name) for name in GROUP},
            "good": getattr(item, "good", ""),
            "bad": getattr(item, "bad", ""),
            "acceptable": item.more.get("acceptable"),
            "chance": _chance(item) if isinstance(item, Design) else None,
        }
        for item in items
    )
    baselines = baseline_rows(frame)
    baselines["share"] = baselines["correct"] / baselines["n"]
    shares = baselines.set_index("baseline").groupby(GROUP, sort=False)["share"]
    rows, decisive = [], []
    for key, group in frame.groupby(GROUP, sort=False):
        lang, _, paradigm = map(str, key)
        row: dict[str, Any] = {"lang": lang, "paradigm": paradigm, "n": len(group)}
        if patterns:
            change, n = Counter(patterns[i] for i in group.index).most_common(1)[0]
            row |= {"mostly": change, "share": f"{100 * n / len(group):.0f} %"}
        compared = [*_compared(group, lang, count)]
        row |= {name: means for name, means, _ in compared}
        row |= {str(name): f"{100 * s:.1f} %" for name, s in shares.get_group(key).items()}
        rows.append(row)
        reasons = "; ".join(reason for *_, reason in compared if reason)
        if reasons:
            decisive.append(f"{lang} {paradigm}, {len(group):,}: {reasons}")
    return rows, decisive


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault or remark about a benchmark, with its places, a line each."""

    severity: str
    text: str
    places: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """The items of a benchmark, the findings, and a row of measures for each paradigm."""

    label: str
    unit: str
    items: Sequence[Thing]
    findings: Sequence[Finding]
    rows: Sequence[Mapping[str, Any]]

    @property
    def errors(self) -> int:
        """Number of findings that are errors."""
        return sum(finding.severity == ERROR for finding in self.findings)


def _at(item: Thing) -> str:
    return f"{item.file}:{item.line}"


def sentences_of(item: Thing) -> list[str]:
    """List the distinct sentences of an item."""
    if isinstance(item, Design):
        return [*dict.fromkeys(condition.sentence for condition in item.conditions)]
    return [*dict.fromkeys((item.good, item.bad))]


def _shown(items: Sequence[Thing]) -> str:
    more = len(items) - TOGETHER
    locations = [*map(_at, items[:TOGETHER]), *([f"{more} more"] if more > 0 else [])]
    return f"{', '.join(locations)}: {' | '.join(sentences_of(items[0]))}"


def _texts(item: Thing) -> tuple[Hashable, ...]:
    if isinstance(item, Design):
        return item.lang, *((condition.name, condition.sentence) for condition in item.conditions)
    return item.lang, item.good, item.bad


def _found(severity: str, places: Sequence[str], noun: str, text: str) -> Finding:
    return Finding(severity, f"{counted(len(places), noun)} {text}", places)


def _alike(items: Sequence[Thing], key: Callable[[Thing], Hashable]) -> Iterator[list[Thing]]:
    groups: dict[Hashable, list[Thing]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return (group for group in groups.values() if len(group) > 1)


def _duplicates(items: Sequence[Thing], unit: str) -> Iterator[Finding]:
    groups = [*_alike(items, _texts)]
    more = sum(len(group) - 1 for group in groups)
    text = f"with copies, {more:,} more than are needed"
    yield _found(WARNING, [*map(_shown, groups)], unit, text)
    near = []
    for group in _alike(items, lambda item: (item.lang, *map(plain, sentences_of(item)))):
        distinct = [*{_texts(item): item for item in reversed(group)}.values()][::-1]
        near += [_shown(distinct)] if len(distinct) > 1 else []
    text = "with copies that differ only in spaces or normalisation"
    yield _found(WARNING, near, unit, text)


def _pairs(pairs: Sequence[Item]) -> Iterator[Finding]:
    same = [f"{_at(item)}: {item.good}" for item in pairs if item.good == item.bad]
    yield _found(ERROR, same, "pair", "of the same sentence twice: always a tie")
    differ: dict[str, list[str]] = {}
    for item in pairs:
        reason = same_but_for(item.good, item.bad) if item.good != item.bad else None
        if reason:
            differ.setdefault(reason, []).append(f"{_at(item)}: {item.good!r} | {item.bad!r}")
    for reason, locations in differ.items():
        severity = WARNING if reason == "where words are parted" else ERROR
        yield _found(severity, locations, "pair", f"whose sentences differ only in {reason}")
    real = [item for item in pairs if item.good != item.bad]
    by_good = {(item.lang, item.good): item for item in reversed(real)}
    by_pair = {_texts(item): item for item in reversed(real)}
    swapped: dict[Hashable, str] = {}
    both = []
    for item in real:
        opposite = by_pair.get((item.lang, item.bad, item.good))
        conflict = by_good.get((item.lang, item.bad))
        if opposite is not None:
            key = item.lang, frozenset((item.good, item.bad))
            swapped.setdefault(key, _shown([item, opposite]))
        elif conflict is not None:
            both.append(f"bad in {_at(item)}, good in {_at(conflict)}: {item.bad}")
    text = "swapped elsewhere, so that good is bad there"
    yield _found(ERROR, [*swapped.values()], "pair", text)
    yield _found(WARNING, both, "bad sentence", "good in another pair")


def _outliers(pairs: Sequence[Item], patterns: Sequence[str]) -> Finding:
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for item, change in zip(pairs, patterns, strict=True):
        counts.setdefault((item.lang, item.phenomenon, item.paradigm), Counter())[change] += 1
    locations = []
    for item, change in zip(pairs, patterns, strict=True):
        count = counts[item.lang, item.phenomenon, item.paradigm]
        [(common, most)] = count.most_common(1)
        regular = count.total() >= REGULAR and most >= count.total() / 2
        if item.good != item.bad and regular and count[change] < RARE * count.total():
            locations.append(f"{_shown([item])} ({change}; in {item.paradigm} mostly {common})")
    return _found(NOTE, locations, "pair", "with a difference that is rare in the paradigm")


def _too_long(items: Sequence[Thing], count: CountTokens | None) -> Iterator[Finding]:
    numbered = [(item, sentence) for item in items for sentence in sentences_of(item)]
    sentences = [sentence for _, sentence in numbered]
    estimated = (round(PER_WORD * count_words(sentence)) for sentence in sentences)
    sizes = count(sentences) if count else [*estimated]
    estimate_note = "" if count else f" (estimated, {PER_WORD} a word; --tokenizer counts them)"
    most = float("inf")
    for limit in LENGTHS:
        locations = [
            f"{_at(item)}: {size:,} tokens"
            for (item, _), size in zip(numbered, sizes, strict=True)
            if limit < size <= most
        ]
        yield _found(WARNING, locations, "sentence", f"of over {limit:,} tokens{estimate_note}")
        most = limit


def _space_at_ends(declared: Declared, named: Mapping[str, Path]) -> Finding:
    """Find sentences with white space at their ends, which reading removes."""
    locations = []
    for data in declared.data:
        keys = [getattr(data, name, None) for name in SENTENCES]
        columns = [key for key in keys if isinstance(key, str)]
        columns += getattr(data, "sentences", {}).values()
        for row in rows_in(data, named, declared.folder, Account("")) if columns else ():
            # White space in what a template makes is not the file's.
            texts = {column: row.cells[column] for column in columns if column in row.cells}
            locations += [
                f"{row.place}: {column} {text!r}"
                for column, text in texts.items()
                if isinstance(text, str) and text != text.strip()
            ]
    text = "with white space at the ends, which is taken away"
    return _found(WARNING, locations, "sentence", text)


def check(declared: Declared, sources: Path, count: CountTokens | None = None) -> Check:
    """Check a benchmark's items (UserError if malformed); without ``count`` estimate tokens."""
    named = local_files(declared.folder) | source_files(declared, sources)
    items = read_items(declared, named, [])
    unit = declared.unit
    pair_items = [item for item in items if isinstance(item, Item)]
    findings = [_space_at_ends(declared, named), *_duplicates(items, unit)]
    patterns: list[str] = []
    if unit == "pair":
        patterns = [pattern(item.good, item.bad) for item in pair_items]
        findings += [*_pairs(pair_items), _outliers(pair_items, patterns)]
    elif unit == "sentence":
        alike = _alike(items, _texts)
        both = [group for group in alike if len({item.more["acceptable"] for item in group}) > 1]
        text = "acceptable here and not there"
        findings.append(_found(ERROR, [*map(_shown, both)], "sentence", text))
    else:
        designs = (item for item in items if isinstance(item, Design))
        same = [item for item in designs if len(sentences_of(item)) < len(item.conditions)]
        text = "with the same sentence in several conditions"
        findings.append(_found(WARNING, [_shown([item]) for item in same], "item", text))
    rows, decisive = measures(items, patterns, count)
    number = f"{len(decisive)} of {counted(len(rows), 'paradigm')}"
    text = f"in {number} one measure alone tells good from bad sentences"
    findings += [Finding(WARNING, text, decisive), *_too_long(items, count)]
    lacking = [lang for lang in declared.languages if not frequency_code(lang)]
    if unit != "item":
        text = "no frequencies of words, for which wordfreq has no list or no library here"
        findings.append(Finding(NOTE, text, lacking))
    made = [finding for finding in findings if finding.places]
    made.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Check(declared.label, unit, items, made, rows)


def report(result: Check, show: int) -> Iterator[str]:
    """Yield lines about a check: findings with at most ``show`` places, and measures."""
    yield f"{result.label}: {counted(len(result.items), result.unit)}"
    for finding in result.findings:
        yield f"{finding.severity}: {finding.text}"
        yield from (f"  {line}" for line in finding.places[:show])
        if len(finding.places) > show:
            yield f"  and {len(finding.places) - show:,} more (--show)"
    counts = Counter(finding.severity for finding in result.findings)
    yield ", ".join(counted(counts[severity], severity) for severity in SEVERITIES)
    yield ""
    yield pd.DataFrame(result.rows).fillna("").to_string(index=False)


def _segments(sentence: str, spans: list[tuple[int, int, str]]) -> Segments:
    segments: Segments = []
    end = 0
    for start, after, region in sorted(spans):
        segments += [(sentence[end:start], None), (sentence[start:after], region)]
        end = after
    return [*segments, (sentence[end:], None)]


def _condition(condition: Condition, item: Design) -> Segments:
    """Divide a condition by the regions that predictions name."""
    formulas = (Prediction.parse(formula).places for formula in item.predictions)
    named = {region for places in formulas for region, name in places if name == condition.name}
    regions = zip(condition.regions, condition.placed(), strict=True)
    shown = named - {SENTENCE}
    spans = [(*span, region) for region, span in regions if region in shown and span[0] < span[1]]
    return _segments(condition.sentence, spans)


def _sentences(item: Thing) -> Iterator[tuple[str, Segments]]:
    if isinstance(item, Design):
        for condition in item.conditions:
            yield condition.name, _condition(condition, item)
    elif "acceptable" in item.more:
        yield "+" if item.more["acceptable"] else "−", [(item.good, None)]
    else:
        spans = item.regions
        yield "+", _segments(item.good, [(spans.good_start, spans.good_end, "")])
        yield "−", _segments(item.bad, [(spans.bad_start, spans.bad_end, "")])


def write_page(check: Check, path: Path, show: int, most: int | None = None) -> None:
    """Write a check as one printable page of HTML that needs no other file.

    It has findings, measures, and at most ``most`` items of each paradigm. The first ``show`` lines
    of a finding are open; a click shows the others.
    """
    groups = by_paradigm(check.items)
    environment = Environment(
        loader=FileSystemLoader(ASSETS), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["tag"] = langcodes.standardize_tag
    page = environment.get_template("check.html.jinja").render(
        check=check,
        show=show,
        number=counted(len(check.items), check.unit),
        columns=[*dict.fromkeys(name for row in check.rows for name in row)],
        texts=TEXTS,
        note=LEGEND,
        paradigms={key: evenly(items, most) for key, items in groups.items()},
        totals={key: len(items) for key, items in groups.items()},
        counts={key: counted(len(items), check.unit) for key, items in groups.items()},
        sentences=_sentences,
    )
    write_text(path, page)
