import pytest

from blimpworks.campaign.catalogue import ModelRow, load_catalogue
from blimpworks.campaign.comparability import basis_of
from blimpworks.campaign.load import check_campaign, load_campaign
from blimpworks.campaign.table_files import LockedModel, read_rows, record
from support.paths import REPOSITORY


def basis(paper, path="config/config.yaml", **changes):
    campaign = load_campaign(REPOSITORY / path)
    if changes:
        settings = campaign.model_dump(mode="json", exclude_unset=True) | changes
        campaign = check_campaign(settings, path)
    return basis_of(campaign, load_catalogue(campaign), paper)


@pytest.mark.parametrize(
    ("paper", "count"), [("multiblimp", 101), ("blimp", 1), ("clams", 5), ("lmentry", 9)]
)
def test_the_papers_campaign_has_their_languages_data_items_and_methods(paper, count):
    own = basis(paper)
    assert (own["data"], own["items"], own["method"]) == ({}, {}, "")
    assert "gemma-3-27b" not in own["models"]
    assert own["languages"] == own["paper_languages"]
    assert len(own["languages"]) == count
    assert basis("urblimp")["languages"] == basis("urblimp")["paper_languages"] == ["urd"]


def own_table(tmp_path, name, change):
    """Return settings with a copy of a catalogue's table, whose lines ``change`` edits or drops."""
    first, *lines = (REPOSITORY / f"config/{name}.tsv").read_text().splitlines()
    rows = [dict(zip(first.split("\t"), line.split("\t"), strict=True)) for line in lines]
    changed = [row for row in map(change, rows) if row]
    path = tmp_path / f"{name}.tsv"
    path.write_text("\n".join([first, *("\t".join(row.values()) for row in changed)]) + "\n")
    return {name: str(path)}


TREEBANKS = {"multiblimp": {"items": "regenerated"}, "languages": ["arb", "eng"], "models": []}


def test_files_are_told_apart_by_their_pins_and_pinning_one_makes_it_no_other(tmp_path):
    def table(change):
        return own_table(tmp_path, "treebanks", lambda row: row | change(row))

    catalogue = table(lambda row: {"git_blob": row["git_blob"] and "0" * 40})
    own = basis("multiblimp", **TREEBANKS, catalogue=catalogue)
    assert "other treebanks" in own["data"]["arb"]
    assert "eng" not in own["data"]
    catalogue = table(lambda row: {"sha256": row["sha256"] or "0" * 64})
    assert basis("multiblimp", **TREEBANKS, catalogue=catalogue)["data"] == {}


def test_a_source_that_the_campaigns_table_lacks_is_named(tmp_path):
    def without(row):
        return None if row["name"] == "unimorph/eng/eng" else row

    catalogue = own_table(tmp_path, "sources", without)
    own = basis("multiblimp", **TREEBANKS, catalogue=catalogue)
    assert own["data"] == {"eng": "without unimorph/eng/eng"}


def test_models_that_are_scored_in_another_way_are_not_those_in_print():
    scoring = {"dtype": "float16", "first_token": "skip"}
    models = basis("blimp", scoring=scoring)["models"]
    assert models["gpt2"] == "scored with dtype float16 and first token skip"
    forms = {"masked": {"pll": "next_token"}, "seq2seq": {"form": "copy"}}
    named = {"models": ["bert-base-multilingual-cased", "mt5-large", "gemma-3-4b"]}
    models = basis("urblimp", "config/urblimp.yaml", **named, scoring=forms)["models"]
    assert [*models.values()] == ["scored with pll next_token", "scored with form copy"]
    assert "phi-4" not in basis("lmentry")["models"]
    answers = {"scoring": scoring, "lmentry": {"answers": {"max_tokens": 9}}}
    models = basis("lmentry", **answers)["models"]
    assert models["phi-4"] == "answered with dtype float16 and max tokens 9"
    assert models["blimp-5gram"] == "a model trained here"
    # Models answer prompts and do not score them.
    assert "gpt2" not in basis("lmentry", scoring={"first_token": "skip"})["models"]


def test_the_commit_that_a_branch_is_locked_to_is_the_same_model(tmp_path, monkeypatch):
    commit = "0123456789abcdef0123456789abcdef01234567"
    rows = {row.name: row for row in read_rows(ModelRow, REPOSITORY / "config/models.tsv")}
    name, row = next((n, r) for n, r in rows.items() if r.hf_id and r.revision == "main")

    def at(commit):
        return lambda cells: cells | {"revision": commit} if cells["name"] == name else cells

    catalogue = own_table(tmp_path, "models", at(commit))
    settings = {"models": [name], "benchmarks": ["blimp"], "catalogue": catalogue}
    assert name in basis("blimp", **settings)["models"]
    monkeypatch.chdir(tmp_path)
    locked = LockedModel(hf_id=row.hf_id, revision="main", commit=commit, date="2026-01-31")
    record(locked, tmp_path / "models.tsv")
    assert name not in basis("blimp", **settings)["models"]


def test_another_model_of_a_printed_name_is_named(tmp_path):
    def quantised(row):
        return row | {"hf_id": "someone/gpt2-gptq"} if row["name"] == "gpt2" else row

    catalogue = own_table(tmp_path, "models", quantised)
    own = basis("blimp", models=["gpt2", "gpt2-xl"], benchmarks=["blimp"], catalogue=catalogue)
    assert "someone/gpt2-gptq" in own["models"]["gpt2"]
    mine = {"granite-3.3": {"path": "./granite"}}
    own = basis("urblimp", "config/urblimp.yaml", own_models=mine)
    assert own["models"]["granite-3.3"] == "a model of this machine (./granite)"
    assert "gpt2-xl" not in own["models"]


def test_embedded_treebanks_and_trained_models_are_named():
    own = basis("multiblimp", "config/demo/config.yaml")
    assert own["languages"] == ["deu", "eng", "fra"]
    assert "UD_German-Demo" in own["data"]["deu"]
    assert own["models"]["ngram-5"] == "a model trained here"
    # Without the paper's benchmark there is nothing to compare.
    assert basis("clams", "config/demo/config.yaml")["languages"] == []


def test_pairs_substitutes_samples_variants_and_methods_that_differ_are_named():
    drawn, mirrored = (basis("multiblimp", f"config/{n}.yaml") for n in ("regeneration", "mirror"))
    assert "drawn again" in drawn["items"]["deu"]
    assert "unimorph/eng/eng.args in place of unimorph/eng/eng" in mirrored["data"]["eng"]
    assert "abk" not in {*drawn["data"], *mirrored["data"]}
    assert basis("blimp", limit=50)["items"] == {"eng": "a sample of 50"}
    assert "corrected" in basis("blimp", blimp={"variant": "corrected"})["method"]
    other = {"items": "released", "methods": ["per_token=mean(all)"]}
    assert basis("multiblimp", multiblimp=other)["method"]
    rules = {"ties": "half", "unknown_words": "score"}
    assert basis("clams", clams=rules)["method"] == "ties: half; unknown words: score"


def test_data_of_the_campaigns_own_are_named(tmp_path):
    folder = tmp_path / "lmentry"
    folder.mkdir()
    catalogue = {"lmentry": str(folder)}
    own = basis("lmentry", "config/lmentry.yaml", catalogue=catalogue)
    assert all("other data" in reason for reason in own["data"].values())
