"""Preview the items of a declared benchmark, and find faults in them.

``preview`` yields the lines of the command ``show-benchmark``. For ``check-benchmark``, ``check``
returns a ``Check``, which ``report`` writes as lines and ``write_page`` as an HTML page. It has
measures such as mean lengths, and findings such as "error: 2 pairs of the same sentence twice" with
the locations of the pairs in the files.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import langcodes
import pandas as pd
from jinja2 import Environment, FileSystemLoader

from blimpworks.analysis.accuracy import wilson
from blimpworks.analysis.baselines import GROUP, baseline_rows, frequency, frequency_code, wins
from blimpworks.benchmarks import differences
from blimpworks.benchmarks.account import Account
from blimpworks.benchmarks.build import read_items
from blimpworks.benchmarks.designs import SENTENCE, Design
from blimpworks.benchmarks.differences import count_words
from blimpworks.benchmarks.files import local_files, rows_in
from blimpworks.benchmarks.layouts import Pair, by_paradigm, grouped
from blimpworks.benchmarks.paper import Declared
from blimpworks.benchmarks.predictions import Prediction, chance_of
from blimpworks.benchmarks.readers import NO_VALUE
from blimpworks.benchmarks.templates import plain
from blimpworks.errors import UserError
from blimpworks.exhibits import shared
from blimpworks.files import write_text
from blimpworks.items import evenly

ERROR, WARNING, NOTE = SEVERITIES = ("error", "warning", "note")
OUTLIER_SHARE, OUTLIER_PAIRS = 0.1, 10
"""A change between sentences is an outlier if a smaller share of the paradigm's pairs has it. Only
paradigms with ``OUTLIER_PAIRS`` pairs, of which half have the same change, are searched."""
DECISIVE_SHARE, DECISIVE_PAIRS = 0.75, 20
"""Smallest share of a paradigm's pairs that a decisive measure gets right, and smallest number of
pairs of such a paradigm."""
TOO_LONG, TOKENS_PER_WORD = ((1024, math.inf), (512, 1024)), 1.5
"""Lengths (above, up to) beyond contexts of common models [tokens]; estimate without tokenizer."""
MOST_LOCATIONS, MOST_FORMATS = 6, 5
"""Largest number of locations in a line of a finding, and of formats of files in a preview."""
DAMAGED = re.compile(r"\ufffd|&(?:#\w+|amp|lt|gt|quot|apos|nbsp);|[ÂÃ][\xa0-\xbf]|â€|</?\w+ ?/?>")
"""Lost characters, HTML or tokens such as <unk>, and UTF-8 that was read as another encoding."""
SENTENCE_KEYS = ("good", "bad", "first", "second", "sentence")
"""Keys of an entry of ``data`` that name columns of sentences."""
ASSETS = Path(__file__).parent / "assets"
Items = Sequence[Pair | Design]
Segments = list[tuple[str, str | None]]
"""Parts of a sentence, each with the name of its region, or None outside of regions."""
CountTokens = Callable[[Sequence[str]], list[int]]
"""Function that returns the number of tokens of each sentence."""
counted = partial(shared.counted, form=",")
"""Function that returns a number with its noun, such as "1,200 pairs" or "1 pair"."""


def _marked(sentence: str, start: int, end: int) -> str:
    return f"{sentence[:start]}[{sentence[start:end]}]{sentence[end:]}"


def preview(declared: Declared, sources: Path, show: int) -> Iterator[str]:
    """Yield lines about a benchmark: how files are read, numbers of items, and ``show`` items."""
    files = local_files(declared.folder) | declared.source_files(sources)
    accounts: list[Account] = []
    items = read_items(declared, files, accounts)
    unit = declared.unit
    for lang in declared.languages:
        declared.check_number(lang, sum(item.lang == lang for item in items))
    formats = {name: text for account in accounts for name, text in account.files.items()}
    yield f"{declared.label}: {counted(len(items), unit)} from {counted(len(formats), 'file')}"
    for text, n in Counter(formats.values()).most_common(MOST_FORMATS):
        yield f"  {n} as {text}"
    for account in accounts:
        yield from account.lines()
    licences = [declared.licence, *(row.licence for row in declared.sources_of(declared.data))]
    yield f"  licence: {', '.join(filter(None, dict.fromkeys(licences))) or 'not stated'}"
    groups = by_paradigm(items)
    counts_by_phenomenon: dict[tuple[str, str], dict[str, int]] = {}
    for (lang, phenomenon, paradigm), group in groups.items():
        counts_by_phenomenon.setdefault((lang, phenomenon), {})[paradigm] = len(group)
    for (lang, phenomenon), counts in counts_by_phenomenon.items():
        listed = ", ".join(f"{paradigm} {n:,}" for paradigm, n in counts.items())
        total = f"{phenomenon} {sum(counts.values()):,}"
        yield f"  {lang}  {total}" + (f": {listed}" if listed != total else "")
    same = sum(isinstance(item, Pair) and item.good == item.bad for item in items)
    if unit == "pair" and same:
        yield f"  twice the same sentence: {same}, which count as ties"
    if unit == "sentence":
        good = sum(isinstance(item, Pair) and item.more["acceptable"] for item in items)
        yield f"  acceptable: {good:,}, not acceptable: {len(items) - good:,}"
    yield "such as"
    # The first items of paradigms precede all other items, so that many paradigms have an example.
    first = [group[0] for group in groups.values()]
    further = [item for group in groups.values() for item in group[1:]]
    for item in [*evenly(first, show), *evenly(further, max(show - len(first), 0))]:
        yield f"  {item.location}  id {item.id}  {item.paradigm}"
        if isinstance(item, Design):
            for condition in item.conditions:
                texts = filter(None, condition.texts or [condition.sentence])
                yield f"    {condition.name}: {' '.join(f'[{text}]' for text in texts)}"
            yield from (f"    predicted: {formula}" for formula in item.predictions)
        elif unit == "sentence":
            yield f"    {'+' if item.more['acceptable'] else '-'} {item.good}"
        else:
            regions = item.regions
            yield f"    + {_marked(item.good, regions.good_start, regions.good_end)}"
            yield f"    - {_marked(item.bad, regions.bad_start, regions.bad_end)}"


def token_counter(path: Path) -> CountTokens:
    """Return the token counter of a tokenizer.json, or of a folder's. UserError if malformed."""
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


def _measures(
    rows: pd.DataFrame, lang: str, count_tokens: CountTokens | None
) -> Iterator[tuple[str, str, str]]:
    """Yield name, means of good and bad sentences ("4.0 : 5.1"), and a reason for each measure.

    ``rows`` are the items of a paradigm. The reason is empty unless the measure alone tells good
    from bad sentences (``_reason``). Items with options or several conditions have no measures.
    """
    paired = bool(rows["acceptable"].isna().all())
    good_sentences, bad_sentences = rows["good"], rows["bad"]
    if not paired:  # single sentences, which are in the column good
        acceptable = rows["acceptable"].astype(bool)
        good_sentences, bad_sentences = rows["good"][acceptable], rows["good"][~acceptable]
    if good_sentences.empty or bad_sentences.empty or rows["chance"].notna().any():
        return
    functions: dict[str, Callable[[pd.Series], Any]] = {
        "characters": lambda sentences: sentences.str.len(),
        "words": lambda sentences: sentences.map(count_words),
    }
    if count_tokens:
        functions["tokens"] = lambda sentences: count_tokens([*sentences])
    if code := frequency_code(lang):
        functions["Zipf"] = lambda sentences: sentences.map(lambda s: frequency(s, code))
    for name, function in functions.items():
        good = pd.Series([*function(good_sentences)], dtype=float)
        bad = pd.Series([*function(bad_sentences)], dtype=float)
        n = min(len(good), len(bad))
        if paired:
            share = wins(good, bad) / n
        else:
            # Without pairs, the share is over all combinations of a good and a bad sentence. It
            # follows from the statistic U of Mann and Whitney, the number of combinations in which
            # the good sentence has the larger number.
            ranks_of_good = pd.concat([good, bad]).rank()[: len(good)]
            u = float(ranks_of_good.sum() - len(good) * (len(good) + 1) / 2)
            share = u / (len(good) * len(bad))
        yield name, f"{good.mean():.1f} : {bad.mean():.1f}", _reason(name, share, n)


def _reason(measure: str, share: float, n: int) -> str:
    """Say how a measure alone tells good from bad sentences; "" if it does not.

    ``share`` of ``n`` pairs have the larger number in the good sentence, or half of it for equal
    numbers. The share 0.1 of words gives "fewer words 90.0 % [80.0, 95.0]".
    """
    low, high = wilson(share * n, n)
    is_decisive = share >= DECISIVE_SHARE or share <= 1 - DECISIVE_SHARE
    if not is_decisive or n < DECISIVE_PAIRS or low <= 0.5 <= high:
        return ""
    direction = "more frequent words" if measure == "Zipf" else f"more {measure}"
    if share < 0.5:
        share, low, high = 1 - share, 1 - high, 1 - low
        direction = "rarer words" if measure == "Zipf" else f"fewer {measure}"
    return f"{direction} {100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _chance(item: Design) -> float | None:
    """Return the probability of a right answer; None for an item without predictions."""
    if not item.predictions:
        return None
    if item.right == "mean":
        return fmean(chance_of((formula,)) for formula in item.predictions)
    return chance_of(item.predictions)


def measures(
    items: Items, changes: Sequence[str], count_tokens: CountTokens | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row of measures for each paradigm, and a line for each decided paradigm.

    One measure alone tells good from bad sentences in a decided paradigm. ``changes`` has the
    change between the sentences of each pair, such as "exchanged 1"; it is empty for other items.
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
    baselines["accuracy"] = baselines["correct"] / baselines["n"]
    accuracies = baselines.set_index("baseline").groupby(GROUP, sort=False)["accuracy"]
    rows, decisive = [], []
    for key, group in frame.groupby(GROUP, sort=False):
        lang, _, paradigm = map(str, key)
        row: dict[str, Any] = {"lang": lang, "paradigm": paradigm, "n": len(group)}
        if changes:
            change, n_changed = Counter(changes[i] for i in group.index).most_common(1)[0]
            row |= {"mostly": change, "share": f"{100 * n_changed / len(group):.0f} %"}
        measured = [*_measures(group, lang, count_tokens)]
        row |= {name: means for name, means, _ in measured}
        for baseline, accuracy in accuracies.get_group(key).items():
            row[str(baseline)] = f"{100 * accuracy:.1f} %"
        rows.append(row)
        if reasons := "; ".join(reason for _, _, reason in measured if reason):
            decisive.append(f"{lang} {paradigm}, {len(group):,}: {reasons}")
    return rows, decisive


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault or remark about a benchmark, with a line for each of its locations."""

    severity: str
    text: str
    locations: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """The items of a benchmark, the findings, and a row of measures for each paradigm."""

    label: str
    unit: str
    items: Items
    findings: Sequence[Finding]
    rows: Sequence[Mapping[str, Any]]

    @property
    def errors(self) -> int:
        return sum(finding.severity == ERROR for finding in self.findings)


def _line(items: Items) -> str:
    """Write the locations of items with the same sentences, then the sentences."""
    locations = [item.location for item in items[:MOST_LOCATIONS]]
    if len(items) > MOST_LOCATIONS:
        locations.append(f"{len(items) - MOST_LOCATIONS} more")
    return f"{', '.join(locations)}: {' | '.join(items[0].sentences)}"


def _content(item: Pair | Design) -> tuple[Hashable, ...]:
    if isinstance(item, Design):
        return item.lang, *((condition.name, condition.sentence) for condition in item.conditions)
    return item.lang, item.good, item.bad


def _finding(severity: str, locations: Sequence[str], noun: str, text: str) -> Finding:
    # Without locations, nothing is found; ``check`` leaves such findings out.
    return Finding(severity, f"{counted(len(locations), noun)} {text}", locations)


def _sentence_findings(items: Items, unit: str) -> Iterator[Finding]:
    """Find copies of items, and sentences that are empty or damaged."""
    groups = [*grouped(items, _content).values()]
    copies = [_line(group) for group in groups if len(group) > 1]
    text = f"with copies, {len(items) - len(groups):,} more than are needed"
    yield _finding(WARNING, copies, unit, text)
    distinct = [group[0] for group in groups]
    near_groups = grouped(distinct, lambda item: (item.lang, *map(plain, item.sentences)))
    near_copies = [_line(group) for group in near_groups.values() if len(group) > 1]
    text = "with copies that differ only in spaces, normalisation or invisible characters"
    yield _finding(WARNING, near_copies, unit, text)
    lines = [(s, f"{item.location}: {s!r}") for item in items for s in item.sentences]
    empty = [line for sentence, line in lines if sentence.casefold() in NO_VALUE]
    yield _finding(WARNING, empty, "sentence", "that programs write where there is no value")
    damaged = [line for sentence, line in lines if DAMAGED.search(sentence)]
    text = "with lost characters, HTML, tokens such as <unk>, or a wrong encoding"
    yield _finding(WARNING, damaged, "sentence", text)


def _pair_findings(pairs: Sequence[Pair], changes: Sequence[str]) -> Iterator[Finding]:
    """Find equal sentences, contradictions, and outliers among ``changes`` ("exchanged 1")."""
    same = [f"{item.location}: {item.good}" for item in pairs if item.good == item.bad]
    yield _finding(ERROR, same, "pair", "of the same sentence twice: always a tie")
    distinct = [item for item in pairs if item.good != item.bad]
    lines_by_difference: dict[str, list[str]] = {}
    for item in distinct:
        if difference := differences.non_verbal_difference(item.good, item.bad):
            line = f"{item.location}: {item.good!r} | {item.bad!r}"
            lines_by_difference.setdefault(difference, []).append(line)
    for difference, lines in lines_by_difference.items():
        severity = WARNING if difference == differences.DIVISION else ERROR
        yield _finding(severity, lines, "pair", f"whose sentences differ only in {difference}")
    yield from _contradictions(distinct)
    outliers = [*_outliers(pairs, changes)]
    yield _finding(NOTE, outliers, "pair", "with a difference that is rare in the paradigm")


def _contradictions(distinct: Sequence[Pair]) -> Iterator[Finding]:
    """Find good sentences that are bad in other pairs: of the same two sentences, or of others."""
    # Reversed, so that a key has its first pair.
    by_good = {(item.lang, item.good): item for item in reversed(distinct)}
    by_content = {_content(item): item for item in reversed(distinct)}
    swapped: dict[Hashable, str] = {}  # a line for two pairs, by the sentences that both have
    good_elsewhere = []
    for item in distinct:
        swapped_item = by_content.get((item.lang, item.bad, item.good))
        contradiction = by_good.get((item.lang, item.bad))
        if swapped_item is not None:
            key = item.lang, frozenset((item.good, item.bad))
            swapped.setdefault(key, _line([item, swapped_item]))
        elif contradiction is not None:
            line = f"bad in {item.location}, good in {contradiction.location}: {item.bad}"
            good_elsewhere.append(line)
    text = "swapped elsewhere, so that good is bad there"
    yield _finding(ERROR, [*swapped.values()], "pair", text)
    yield _finding(WARNING, good_elsewhere, "bad sentence", "good in another pair")


def _outliers(pairs: Sequence[Pair], changes: Sequence[str]) -> Iterator[str]:
    """Yield a line for each pair with a rare change, in paradigms of which half have one change."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}  # of changes, by paradigm
    for item, change in zip(pairs, changes, strict=True):
        counts.setdefault(item.labels, Counter())[change] += 1
    for item, change in zip(pairs, changes, strict=True):
        in_paradigm = counts[item.labels]
        n_pairs = in_paradigm.total()
        [(most_common, n_most_common)] = in_paradigm.most_common(1)
        is_regular = n_pairs >= OUTLIER_PAIRS and n_most_common >= n_pairs / 2
        if item.good != item.bad and is_regular and in_paradigm[change] < OUTLIER_SHARE * n_pairs:
            yield f"{_line([item])} ({change}; in {item.paradigm} mostly {most_common})"


def _length_findings(items: Items, count_tokens: CountTokens | None) -> Iterator[Finding]:
    """Find sentences of over 1,024 tokens, then those of over 512 that have at most 1,024."""
    located = [(item.location, sentence) for item in items for sentence in item.sentences]
    sentences = [sentence for _, sentence in located]
    if count_tokens:
        sizes, note = count_tokens(sentences), ""
    else:
        sizes = [round(TOKENS_PER_WORD * count_words(sentence)) for sentence in sentences]
        note = f" (estimated, {TOKENS_PER_WORD} a word; --tokenizer counts them)"
    for limit, upper_limit in TOO_LONG:
        lines = [
            f"{location}: {size:,} tokens"
            for (location, _), size in zip(located, sizes, strict=True)
            if limit < size <= upper_limit
        ]
        yield _finding(WARNING, lines, "sentence", f"of over {limit:,} tokens{note}")


def _space_at_ends(declared: Declared, files: Mapping[str, Path]) -> Finding:
    """Find sentences of the files with white space at their ends, which reading removes."""
    locations = []
    for data in declared.data:
        # A layout has only some of these keys.
        values = [getattr(data, key, None) for key in SENTENCE_KEYS]
        columns = [value for value in values if isinstance(value, str)]
        columns += getattr(data, "sentences", {}).values()
        for row in rows_in(data, files, declared.folder, Account("")) if columns else ():
            for column in dict.fromkeys(columns):
                # A template is no column of the file; its white space may be the declaration's.
                text = row.cells.get(column)
                if isinstance(text, str) and text != text.strip():
                    locations.append(f"{row.location}: {column} {text!r}")
    text = "with white space at the ends, which reading removes"
    return _finding(WARNING, locations, "sentence", text)


def check(declared: Declared, sources: Path, count_tokens: CountTokens | None = None) -> Check:
    """Check a benchmark's items; without ``count_tokens``, estimate numbers of tokens."""
    files = local_files(declared.folder) | declared.source_files(sources)
    items = read_items(declared, files, [])
    unit = declared.unit
    pair_items = [item for item in items if isinstance(item, Pair)]
    findings = [_space_at_ends(declared, files), *_sentence_findings(items, unit)]
    changes: list[str] = []
    if unit == "pair":
        changes = [differences.change_between(item.good, item.bad) for item in pair_items]
        findings += _pair_findings(pair_items, changes)
    elif unit == "sentence":
        lines = []
        for group in grouped(items, _content).values():
            if len({item.more["acceptable"] for item in group}) > 1:
                lines.append(_line(group))
        findings.append(_finding(ERROR, lines, "sentence", "acceptable here and not there"))
    else:
        designs = (item for item in items if isinstance(item, Design))
        same = [item for item in designs if len(item.sentences) < len(item.conditions)]
        text = "with the same sentence in several conditions"
        findings.append(_finding(WARNING, [_line([item]) for item in same], "item", text))
    rows, decided = measures(items, changes, count_tokens)
    number = f"{len(decided)} of {counted(len(rows), 'paradigm')}"
    text = f"in {number} one measure alone tells good from bad sentences"
    findings += [Finding(WARNING, text, decided), *_length_findings(items, count_tokens)]
    lacking = [lang for lang in declared.languages if not frequency_code(lang)]
    if unit != "item":
        text = "no frequencies of words, for which wordfreq has no list or no library here"
        findings.append(Finding(NOTE, text, lacking))
    located = [finding for finding in findings if finding.locations]
    located.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Check(declared.label, unit, items, located, rows)


def report(result: Check, show: int) -> Iterator[str]:
    """Yield lines about a check: each finding with at most ``show`` locations, then measures."""
    yield f"{result.label}: {counted(len(result.items), result.unit)}"
    for finding in result.findings:
        yield f"{finding.severity}: {finding.text}"
        yield from (f"  {line}" for line in finding.locations[:show])
        if len(finding.locations) > show:
            yield f"  and {len(finding.locations) - show:,} more (--show)"
    counts = Counter(finding.severity for finding in result.findings)
    yield ", ".join(counted(counts[severity], severity) for severity in SEVERITIES)
    yield ""
    yield pd.DataFrame(result.rows).fillna("").to_string(index=False)


def _segments(sentence: str, spans: list[tuple[int, int, str]]) -> Segments:
    """Divide a sentence at the ``spans`` of regions: (start, end, name of the region)."""
    segments: Segments = []
    before = 0
    for start, end, region in sorted(spans):
        segments += [(sentence[before:start], None), (sentence[start:end], region)]
        before = end
    return [*segments, (sentence[before:], None)]


def _labelled_sentences(item: Pair | Design) -> Iterator[tuple[str, Segments]]:
    # Yield each sentence in segments, with its label: the condition, or + for good, − for bad.
    if isinstance(item, Design):
        # Only regions that predictions name are segments.
        formulas = map(Prediction.parse, item.predictions)
        named = {region for formula in formulas for region in formula.regions}
        for condition in item.conditions:
            spans = []
            for region, span in zip(condition.regions, condition.spans, strict=True):
                if (region, condition.name) in named and region != SENTENCE and span[0] < span[1]:
                    spans.append((*span, region))
            yield condition.name, _segments(condition.sentence, spans)
    elif "acceptable" in item.more:
        yield "+" if item.more["acceptable"] else "−", [(item.good, None)]
    else:
        good_start, good_end, bad_start, bad_end = item.regions
        yield "+", _segments(item.good, [(good_start, good_end, "")])
        yield "−", _segments(item.bad, [(bad_start, bad_end, "")])


def write_page(check: Check, path: Path, show: int, most: int | None = None) -> None:
    """Write a check as a printable HTML page, with at most ``most`` items of each paradigm.

    The first ``show`` lines of a finding are visible; a click shows the others.
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
        paradigms={key: evenly(items, most) for key, items in groups.items()},
        totals={key: len(items) for key, items in groups.items()},
        counts={key: counted(len(items), check.unit) for key, items in groups.items()},
        sentences=_labelled_sentences,
    )
    write_text(path, page)
