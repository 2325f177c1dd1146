"""Test reports of check-benchmark on benchmarks with known faults, and on faultless ones."""

import json

import pytest
from typer.testing import CliRunner

from blimpworks.benchmarks.check import check, token_counter, write_page
from blimpworks.benchmarks.differences import change_between, non_verbal_difference
from blimpworks.benchmarks.paper import read_declared
from blimpworks.cli import app
from blimpworks.errors import UserError
from support.declared_kit import PAIRS, declare, suite

SENTENCES = {"layout": "sentences", "files": "*.csv", "sentence": "s", "label": "ok"}
SUITES = {"layout": "suites", "files": "*.json"}
PLAIN = ["He runs.", "He run."]


def checked(folder, rows, entry=PAIRS, count=None, **declaration):
    """Check a benchmark with these rows below its headings, from line 2 of ``p.csv``."""
    headings = ["s", "ok"] if entry is SENTENCES else ["good", "bad"]
    text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [headings, *rows])
    files = {"s.json": rows} if entry["layout"] == "suites" else {"p.csv": text}
    declare(folder, files, data=[entry], **declaration)
    return check(read_declared(folder), folder, count)


def found(result):
    return [(each.severity, each.text, [*each.locations]) for each in result.findings]


@pytest.mark.parametrize(
    ("rows", "severity", "text", "places"),
    [
        ([PLAIN, PLAIN], "warning", "1 pair with copies, 1", ["p.csv:2, p.csv:3: He runs."]),
        ([PLAIN, PLAIN[::-1]], "error", "1 pair swapped", ["p.csv:2, p.csv:3: He runs. | He run."]),
        ([PLAIN, ["I run.", "He runs."]], "warning", "1 bad sentence good", ["bad in p.csv:3, go"]),
        ([["He runs.", "He runs."]], "error", "1 pair of the same", ["p.csv:2: He runs."]),
        ([["He  runs.", "He runs."]], "error", "differ only in white space", ["p.csv:2: 'He  ru"]),
        ([["é a", "e\u0301 a"]], "error", "only in Unicode normalisation (NFC)", ["p.csv:2: 'é"]),
        ([["a b", "a\u200b b\xad"]], "error", "only in invisible characters", ["p.csv:2: 'a b'"]),
        ([PLAIN, ["NA", "He run."]], "warning", "1 sentence that programs", ["p.csv:3: 'NA'"]),
        ([PLAIN, *([bad, "x"] for bad in ("caf\ufffd", "a &amp; b", "cafÃ©", "a <unk>"))],
            "warning", "4 sentences with lost char", [f"p.csv:{line}: " for line in range(3, 7)]),
        ([["a part", "apart"]], "warning", "in where words are divided", ["p.csv:2: 'a part'"]),
        ([[" He runs.", "He run."]], "warning", "1 sentence with white space", ["p.csv:2: good"]),
        ([PLAIN, ["He  runs.", "He run."]], "warning",
            "1 pair with copies that differ only in spaces",
            ["p.csv:2, p.csv:3: He runs. | He run."]),
        ([["a " * 700, "b"]], "warning", "1 sentence of over 1,024 tokens", ["p.csv:2: 1,050 t"]),
        ([*([f"He ran {n}.", f"He run {n}."] for n in range(11)), ["Yes, so.", "Yes, so, no."]],
            "note", "1 pair with a difference that is rare",
            ["p.csv:13: Yes, so. | Yes, so, no. (inserted 2; in p mostly exchanged 1)"]),
        ([[f"He ran {n}.", f"He ran on {n}."] for n in range(20)], "warning",
            "in 1 of 1 paradigm one measure alone",
            ["eng p, 20: fewer characters 100.0 % [83.9, 100.0]; fewer words 100.0 %"]),
    ],
)  # fmt: skip
def test_faults_of_pairs_are_found(tmp_path, rows, severity, text, places):
    findings = found(checked(tmp_path, rows))
    chosen = [each for each in findings if text in each[1]]
    assert [(each[0], len(each[2])) for each in chosen] == [(severity, len(places))]
    assert all(map(str.startswith, chosen[0][2], places))
    assert severity == "error" or not any(each[0] == "error" for each in findings)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([["He runs.", 1], ["He runs.", 0]], "1 sentence acceptable here and not there"),
        ([["He runs.", 1], ["He runs.", 1]], "1 sentence with copies, 1 more than are needed"),
        (
            [[f"{'He ran' if n % 2 else 'He himself ran'} {n}.", n % 2] for n in range(50)],
            "in 1 of 1 paradigm one measure alone tells good from bad sentences",
        ),
    ],
)
def test_faults_of_single_sentences_are_found(tmp_path, rows, text):
    assert text in [each[1] for each in found(checked(tmp_path, rows, SENTENCES))]


def test_items_of_conditions_have_copies_equal_conditions_and_chance(tmp_path):
    item = suite()["items"][0]
    again = item | {"item_number": 2}
    same = json.loads(json.dumps(item | {"item_number": 3}).replace("sleeps", "sleep"))
    rows = json.dumps(suite(items=[item, again, same]))
    result = checked(tmp_path, rows, SUITES)
    assert [each[:2] for each in found(result)] == [
        ("warning", "1 item with copies, 1 more than are needed"),
        ("warning", "1 item with the same sentence in several conditions"),
    ]
    assert result.rows == [{"lang": "eng", "paradigm": "verbs", "n": 3, "chance": "50.0 %"}]


@pytest.mark.parametrize(("right", "chance"), [("all", "0.0 %"), ("mean", "25.0 %")])
def test_the_chance_of_a_mean_is_that_of_its_predictions(tmp_path, right, chance):
    twice = ["(2;%match%) < (2;%mismatch%)", "(1;%match%) = (1;%mismatch%)"]
    entry = SUITES | {"predictions": twice, "right": right}
    assert checked(tmp_path, json.dumps(suite()), entry).rows[0]["chance"] == chance


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        ("He runs.", "He run.", "exchanged 1"),
        ("Ann ran.", "So ann ran on.", "inserted 1, inserted 1"),
        ("He ran home.", "Home he ran.", "reordered"),
        ("He saw her own dog.", "He saw one dog.", "exchanged 2 for 1"),
        ("一本书在桌上。", "一只书在桌上。", "exchanged 1"),
        ("लड़की आई।", "लड़का आई।", "exchanged 1"),
        ("a  b", "a b", "spaces"),
    ],
)
def test_differences_are_told_by_words(good, bad, expected):
    assert change_between(good, bad) == expected
    white_space = "white space" if expected == "spaces" else None
    assert non_verbal_difference(good, bad) == white_space


def test_tokens_are_counted_by_a_tokenizer_that_is_named(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    result = checked(tmp_path / "b", [["a" * 600, "b"]], count=token_counter(tmp_path))
    assert ("warning", "1 sentence of over 512 tokens", ["p.csv:2: 600 tokens"]) in found(result)
    assert result.rows[0]["tokens"] == "600.0 : 1.0"
    with pytest.raises(UserError, match=r"benchmark\.yaml is no tokenizer that can be read"):
        token_counter(tmp_path / "b/benchmark.yaml")


def test_languages_without_frequencies_are_named(tmp_path):
    result = checked(tmp_path, [PLAIN], languages={"khm": "Khmer"})
    assert found(result)[-1][::2] == ("note", ["khm"])
    assert "Zipf" not in result.rows[0]


@pytest.mark.parametrize(("bad", "code"), [("He runs.", 1), ("He run.", 0)])
def test_only_errors_are_an_exit_code(tmp_path, bad, code):
    declare(tmp_path, {"p.csv": f"good,bad\nHe runs.,{bad}\nHe runs.,{bad}\n"}, data=[PAIRS])
    done = CliRunner().invoke(app, ["check-benchmark", str(tmp_path), "--show", "1"])
    assert done.exit_code == code, done.output
    assert "1 warning" in done.output
    assert ("twice: always a tie\n  p.csv:2: He runs.\n  and 1 more" in done.output) == bool(code)


@pytest.mark.parametrize(
    ("rows", "entry", "expected"),
    [
        ([PLAIN, ["<b>", "b"]], PAIRS, ["He <mark>runs</mark>.", "<mark>&lt;b&gt;</mark>"]),
        ([["He runs.", 1]], SENTENCES, ['class="sign good">+</td>', ">He runs.</td>"]),
        (json.dumps(suite()), SUITES,
            ["The cats <mark>sleep</mark><sub>2</sub>", "(2;%match%) &lt;"]),
    ],
)  # fmt: skip
def test_a_page_shows_findings_and_items_with_regions(tmp_path, rows, entry, expected):
    page = tmp_path / "page.html"
    write_page(checked(tmp_path, rows, entry), page, show=1, most=1)
    text = page.read_text(encoding="utf-8")
    # A report shows the first of two pairs alone.
    assert expected[0] in text
    assert (expected[1] in text) is (entry is not PAIRS)
    assert ("2 pairs, of which 1 are shown" in text) is (entry is PAIRS)
    assert 'dir="auto" lang="en"' in text
    assert not {"http:", "https:", "src="} & {*text.replace('"', " ").split()}
