import json
import shutil
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from huggingface_hub import constants
from safetensors import safe_open

from blimpworks.campaign.catalogue import ModelRow
from blimpworks.campaign.table_files import read_rows
from blimpworks.errors import UserError
from blimpworks.evaluation import machine as library
from blimpworks.evaluation import models as evaluation_models
from blimpworks.evaluation.machine import Machine, check_memory, choose_engine, slow_formats
from blimpworks.evaluation.models import _with_names, in_languages, resolve_model, resolve_models
from blimpworks.evaluation.request import repository_catalogue, write_models
from blimpworks.models.checkpoint import FILE_NAME, Description, read_checkpoint
from blimpworks.models.hub import HubAddress
from blimpworks.models.retrieve import retrieve_model, take_local
from support import hub_kit, tiny
from support.hostile import edit
from support.hub_kit import COMMIT
from support.ngram_kit import ARPA

CATALOGUE = repository_catalogue().models
FAST = Machine(64.0, (80.0,), frozenset({"vllm"}))
SLOW = Machine(16.0)


@pytest.fixture
def folder(trained, tmp_path):
    return tiny.unsealed(trained("causal"), tmp_path / "My Model_v2")


def resolved(argument, **overrides):
    return resolve_model(str(argument), CATALOGUE, overrides)


def names(*arguments):
    return [model.row.name for model in resolve_models([*map(str, arguments)], CATALOGUE)]


def test_a_model_of_the_catalogue_is_run_on_every_benchmark():
    model = resolved("gpt2")
    assert model.row == CATALOGUE["gpt2"].model_copy(update={"papers": ()})
    assert (model.in_catalogue, model.weights_gb) == (True, pytest.approx(0.124 * 4))
    assert model.described == (
        "GPT-2 small: causal, float32, 124 million parameters (496 MB), first token after the end "
        "symbol, no chat template; openai-community/gpt2 at 607a30d783df"
    )
    assert resolved("gpt2@v1").row.revision == "v1"


def test_a_directory_says_how_its_model_is_run(folder):
    model = resolved(folder)
    row = model.row
    assert (row.name, row.label) == ("my-model-v2", "My Model_v2")
    assert (row.hf_id, row.revision, row.papers) == (str(folder), "", ())
    assert (row.architecture, row.engine, row.tuning) == ("causal", "transformers", "base")
    assert (row.dtype, row.first_token, row.scope) == ("float32", "bos", "multilingual")
    with safe_open(folder / "model.safetensors", "np") as file:
        count = sum(file.get_tensor(name).size for name in file.keys())  # noqa: SIM118
    assert row.parameters == pytest.approx(count / 1e9, rel=1e-3)
    assert model.weights_gb == row.parameters * 4
    assert model.described == (
        f"My Model_v2: causal, float32, {count / 1000:.3g} thousand parameters "
        f"({count * 4 / 1e3:.1f} kB), first token after '<s>' (bos), no chat template; "
        f"{folder}"
    )


def test_a_path_may_be_relative_and_needs_no_dot_where_a_model_lies_there(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    expected = resolved(folder).row
    for argument in ("./My Model_v2", "My Model_v2", "My Model_v2/"):
        assert resolved(argument).row == expected
    with pytest.raises(UserError, match="is named twice"):
        resolve_models([str(folder), "./My Model_v2"], CATALOGUE)
    monkeypatch.setattr("blimpworks.evaluation.models.REPOSITORY", folder.parent)
    assert resolved(folder).row.hf_id == "./My Model_v2"
    edit(folder / "tokenizer_config.json", chat_template="{{ messages }}")
    assert resolved(folder).row.tuning == "chat"


def test_braces_of_a_path_stay_what_they_are(folder):
    odd = folder.rename(folder.with_name("a{b}c"))
    model = resolved(odd)
    assert model.row.hf_id.format(lang="deu", script="latn") == str(odd)
    assert model.described.endswith(f"; {odd}")


def test_a_checkpoint_of_one_language_is_run_on_it_unless_others_are_named(trained, tmp_path):
    shutil.copytree(trained("ngram").parent, tmp_path / "small" / "eng")
    model = resolved(tmp_path / "small" / "eng")
    row = model.row
    assert in_languages(model, ()) == in_languages(model, ("eng",)) == model
    named = in_languages(model, ("nld", "eng"))
    assert (named.row.scope, named.row.languages) == ("multilingual", "nld,eng")
    assert named.notes[-1] == named.row.note
    assert "was trained for eng and is run on nld, as --languages says" in named.row.note
    target = tmp_path / "multi" / FILE_NAME
    described = read_checkpoint(tmp_path / "small" / "eng" / FILE_NAME)
    place, other = Path(row.hf_id), described.model_copy(update={"scope": "nld"})
    described = described.model_copy(update={"scope": "multi"})
    assert take_local(place, described, target).scope == "multi"
    with pytest.raises(UserError, match=r"is a ngram model \(eng\); expected ngram \(nld\)"):
        take_local(place, other, target)
    assert (row.name, row.scope, row.languages) == ("small-eng", "monolingual", "eng")
    assert (row.architecture, row.engine, row.parameters) == ("ngram", "kenlm", None)


def of_languages(trained, root, *languages, architecture="causal"):
    for lang in languages:
        shutil.copytree(trained(architecture).parent, root / "small" / lang)
        edit(root / "small" / lang / FILE_NAME, scope=lang)
    return root / "small"


@pytest.mark.parametrize("end", ["", "/", "/{lang}"])
def test_a_directory_of_languages_is_one_model(trained, tmp_path, end):
    place = of_languages(trained, tmp_path, "deu", "fra")
    row = resolved(f"{place}{end}").row
    assert (row.name, row.hf_id) == ("small", f"{place}/{{lang}}")
    assert (row.scope, row.languages) == ("monolingual", "deu,fra")
    assert row.hf_id.format(lang="fra", script="latn") == str(place / "fra")
    edit(place / "fra" / FILE_NAME, scope="ita")
    with pytest.raises(UserError, match="fra holds a checkpoint of 'ita'; expected one of 'fra'"):
        resolved(place)
    of_languages(trained, tmp_path / "one", "multi")
    row = resolved(tmp_path / "one/small").row
    assert (row.name, row.scope) == ("small", "multilingual")
    assert row.hf_id == str(tmp_path / "one/small/multi")
    of_languages(trained, tmp_path, "ita", architecture="masked")
    with pytest.raises(UserError, match="deu is causal, float32, bos and ita is masked, float32"):
        resolved(place)


def test_an_n_gram_file_is_a_model(tmp_path):
    place = tmp_path / "Mine.3.arpa"
    place.write_text(ARPA)
    model = resolved(place)
    assert (model.row.name, model.row.label) == ("mine.3", "Mine.3")
    assert (model.row.architecture, model.row.engine) == ("ngram", "kenlm")
    assert (model.row.scope, model.notes) == ("multilingual", ())
    place.write_text(ARPA.replace("dog", "dog."))
    (note,) = resolved(place).notes
    assert note.startswith("1 of the 2 words of Mine.3.arpa, such as 'dog.', never match")


LOWER = [f"word{letter}" for letter in "abcdefghij"]
MANY = [f"{word}{letter}" for word in LOWER for letter in "klmnopqrst"]
GEORGIAN = [f"სიტყვა{letter}" for letter in "აბგდევზთიკ"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (LOWER, "None of the 10 words of mine.arpa has a capital, so words of sentences with"),
        (map(str.upper, LOWER), "None of the 10 words of mine.arpa has a small letter, so words"),
        ([*MANY, "N"], "1 of the 101 words of mine.arpa has a capital"),
        ([*LOWER, "The"], ""),
        (GEORGIAN, ""),  # sentences have no Georgian capitals
        ([*LOWER, *"一二三四五六七八九十百千"], ""),
        (LOWER[:9], ""),
    ],
)
def test_a_vocabulary_of_one_case_is_said(tmp_path, words, says):
    place, words = tmp_path / "mine.arpa", ["<unk>", "<s>", "</s>", *words]
    grams = "".join(f"-1.0\t{word}\n" for word in words)
    place.write_text(f"\\data\\\nngram 1={len(words)}\n\n\\1-grams:\n{grams}\n\\end\\\n")
    assert [note.startswith(says) for note in resolved(place).notes] == [True] * bool(says)


def test_names_are_those_of_the_last_part_and_longer_where_that_is_taken(folder, tmp_path):
    places = [tmp_path / place for place in ("a/tiny", "b/tiny", "lab/gpt2", "transformer-small")]
    for place in places:
        shutil.copytree(folder, place)
    # Papers print gpt2's accuracies, but not those of our models.
    assert names(*places) == ["a-tiny", "b-tiny", "lab-gpt2", "transformer-small"]
    assert names(places[3], "transformer-small")[0].endswith("-transformer-small")
    labels = [model.row.label for model in resolve_models([*map(str, places[:2])], CATALOGUE)]
    assert labels == ["a/tiny", "b/tiny"]
    label = CATALOGUE["ngram-5"].label
    shutil.copytree(folder, tmp_path / label)
    models = resolve_models(["ngram-5", str(tmp_path / label)], CATALOGUE)
    assert [model.row.label for model in models] == [label, f"{label} ({models[1].row.name})"]
    for place in ("Ü", "Ö"):
        shutil.copytree(folder, tmp_path / place)
    first, second = names(tmp_path / "Ü", tmp_path / "Ö")
    assert second == f"{first}-2", "where nothing tells them apart"


def test_a_path_without_further_folders_takes_no_name_of_the_catalogue(folder):
    row = resolve_model("gpt2", CATALOGUE).row
    ours = replace(resolve_model(str(folder), CATALOGUE), components=("gpt2",))
    theirs = evaluation_models.ResolvedModel("gpt2", row, ("gpt2",), in_catalogue=True)
    assert [m.row.name for m in _with_names([ours], {"gpt2"})] == ["gpt2-2"]
    assert [m.row.name for m in _with_names([ours, theirs], ())] == ["gpt2-2", "gpt2"]


def test_what_a_user_sets_goes_before_what_is_read(folder):
    model = resolved(folder, dtype="bfloat16", first_token="skip", parameters="1.5", tuning="chat")
    row = model.row
    assert (row.dtype, row.first_token, row.parameters) == ("bfloat16", "skip", 1.5)
    assert (row.tuning, model.weights_gb) == ("chat", 3.0)
    edit(folder / "config.json", architectures=["LlamaModel"])
    with pytest.raises(UserError, match=r"architectures is \['LlamaModel'\]"):
        resolved(folder)
    assert resolved(folder, architecture="causal").row.architecture == "causal"


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"dtype": "int4"}, "dtype is 'int4'; expected float32 or bfloat16 or float16"),
        ({"first_token": "<x>"}, "first_token is '<x>', which is no token of the tokenizer's"),
        ({"tuning": "x"}, "tuning is 'x'; input should be 'base' or 'chat'"),
        ({"parameters": "7B"}, "parameters is '7B'; expected billions, such as 0.125"),
        ({"parameters": "-1"}, "parameters is '-1'; expected billions"),
        ({"architecture": "masked"}, "is a causal model, as its own files say, and architecture"),
        ({"gpus": "1"}, "'gpus' cannot be set; expected architecture, dtype, first_token"),
    ],
)
def test_a_wrong_setting_is_one_sentence(folder, overrides, says):
    with pytest.raises(UserError, match=says):
        resolved(folder, **overrides)


@pytest.mark.parametrize(
    ("name", "fast", "slow"),
    [
        ("gpt2", "vllm", "transformers"),
        ("bert-base-uncased", "transformers", "transformers"),
        ("ngram-5", "kenlm", "kenlm"),
        ("lstm-small", "lstm", "lstm"),
        # Its recipe determines the engine.
        ("transformer-small", "transformers", "transformers"),
    ],
)
def test_the_engine_suits_the_model_and_the_machine(name, fast, slow):
    row = CATALOGUE[name]
    assert choose_engine(row, "auto", FAST).engine == fast
    assert choose_engine(row, "auto", SLOW).engine == slow
    assert choose_engine(row, slow, FAST).engine == slow


@pytest.mark.parametrize(
    ("name", "engine", "says"),
    [
        ("gpt2", "vllm", r"whose environment \(.vllm/bin/python in .*\) is not there; install it"),
        ("bert-base-uncased", "vllm", "runs no masked models. Leave --engine out; transformers c"),
        ("ngram-5", "transformers", "the model is trained here and run by kenlm alone"),
    ],
)
def test_an_engine_that_cannot_run_a_model_is_one_sentence(name, engine, says):
    with pytest.raises(UserError, match=says):
        choose_engine(CATALOGUE[name], engine, SLOW)
    eos = CATALOGUE["bert-base-uncased"].model_copy(update={"first_token": "eos"})
    with pytest.raises(UserError, match=r"scores masked models with bos only\. Correct its"):
        choose_engine(eos, "auto", SLOW)


def test_a_table_of_models_is_read_back_as_it_was(trained, folder, tmp_path):
    arguments = [str(folder), str(trained("ngram").parent), "gpt2", "goldfish"]
    models = resolve_models(arguments, CATALOGUE)
    rows = [*(model.row for model in models), CATALOGUE["gemma-3-4b"]]
    write_models(rows, tmp_path / "models.tsv")
    assert read_rows(ModelRow, tmp_path / "models.tsv") == rows
    row = CATALOGUE["gpt2"].model_copy(update={"note": "two\nlines"})
    with pytest.raises(UserError, match=r"note is 'two\\nlines', and no table can hold"):
        write_models([row], tmp_path / "models.tsv")


@pytest.fixture(scope="module")
def hub(trained):
    """Serve repositories with the causal model: whole, in shards, pickled."""
    files = {path.name: path.read_bytes() for path in trained("causal").parent.iterdir()}
    files = {name: body for name, body in files.items() if not name.startswith(FILE_NAME)}
    weights = files.pop("model.safetensors")
    config = json.loads(files["config.json"]) | {"dtype": "bfloat16"}
    many = {f"model-{n:05}-of-00009.safetensors": weights for n in range(1, 10)}
    repositories = {
        "lab/Tiny_1": files | {"model.safetensors": weights, "onnx/model.safetensors": b"x" * 99},
        "lab/pickled": files | {"pytorch_model.bin": weights},
        "lab/shards": files | many | {"config.json": json.dumps(config).encode()},
    }
    with hub_kit.serving(repositories) as server:
        server.size = len(weights)
        yield server


@pytest.fixture
def served(hub, tmp_path, monkeypatch):
    """Point this process to the hub, with a cache of the test's own."""
    hub_kit.use(hub, tmp_path, monkeypatch)
    hub.asked.clear()
    return hub


def test_a_model_of_the_hub_is_known_without_its_weights(served, trained, tmp_path):
    ours = resolved(trained("causal").parent).row
    plain, pinned, shards = map(resolved, ("lab/Tiny_1", f"lab/Tiny_1@{COMMIT}", "lab/shards"))
    same = {"architecture", "engine", "dtype", "first_token", "parameters", "tuning"}
    assert plain.row.model_dump(include=same) == ours.model_dump(include=same)
    names = (plain.row.hf_id, plain.row.revision, plain.row.label)
    assert names == ("lab/Tiny_1", COMMIT, "Tiny_1")
    assert plain.described.endswith(f"; lab/Tiny_1 at main ({COMMIT[:12]})")
    assert pinned.row.label == f"Tiny_1@{COMMIT[:12]}"
    # For many files the size is divided by the configuration's format: 2 bytes a number.
    assert shards.row.dtype == "bfloat16"
    assert shards.row.parameters == pytest.approx(9 * served.size / 2 / 1e9, rel=1e-3)
    assert not [*tmp_path.rglob("*.safetensors")]


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("lab/absent", "model 'lab/absent' does not exist on http"),
        ("lab/Tiny_1@v9", "model 'lab/Tiny_1' has no revision 'v9' on http"),
        ("lab/pickled", "then blimpworks convert-weights pickled NEW-DIRECTORY, and name that"),
        ("meta-llama/Llama-3.2-1BB", r"Did you mean 'meta-llama/Llama-3\.2-1B'\?"),
    ],
)
def test_what_cannot_be_had_from_the_hub_is_one_sentence(address, says):
    with pytest.raises(UserError, match=says):
        resolved(address)


def test_offline_a_model_is_known_from_a_cache_that_has_it_whole(served, tmp_path, monkeypatch):
    online = resolved("lab/Tiny_1")
    facts = {"architecture": "causal", "dtype": "float32", "first_token": "bos"}
    description = Description(name="tiny", scope="multi", **facts)
    retrieve_model(HubAddress("lab/Tiny_1", "main"), description, tmp_path / "m" / FILE_NAME)
    served.asked.clear()
    with monkeypatch.context() as patch:
        patch.setenv("BLIMPWORKS_OFFLINE", "1")
        assert resolved("lab/Tiny_1") == online
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="is not complete in the cache"):
        resolved("lab/absent")
    monkeypatch.setenv("BLIMPWORKS_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "other"))
    assert resolved("lab/Tiny_1") == online
    assert served.asked == []


GB = 10**9
HERE = {"engine": "transformers"}


def model(name, **changes):
    row = CATALOGUE[name].model_copy(update=changes)
    return evaluation_models.ResolvedModel(name, row, (name,), in_catalogue=True)


def test_what_a_model_needs_is_its_weights_and_what_its_engine_works_with():
    small = model("gpt2", engine="transformers")
    large = model("llama-3.1-8b", engine="transformers")
    assert check_memory([small, large], Machine(20.0)) == [
        "GPT-2 small needs 1.8 GB of memory: weights 496 MB in float32, 1.3 GB to work with "
        "(20.0 GB are free).",
        "Llama3 8B needs 17.4 GB of memory: weights 16.1 GB in bfloat16, 1.3 GB to work with "
        "(20.0 GB are free).",
    ]
    (line,) = check_memory([model("llama-3.1-70b", engine="transformers")], Machine(None))
    assert line.endswith("1.3 GB to work with."), "a machine that does not say its memory"


@pytest.mark.parametrize(
    ("cpuinfo", "slow"),
    [
        ("flags\t\t: fpu avx2 f16c\nflags\t\t: fpu avx2 f16c\n", {"bfloat16", "float16"}),
        ("flags\t\t: fpu avx512f avx512_bf16\n", {"float16"}),
        ("Features\t: fp asimd asimdhp bf16\n", set()),
        ("model name\t: unknown\n", set()),
        ("", set()),
    ],
    ids=["x86", "x86 with bfloat16", "ARM", "without flags", "without the file"],
)
def test_a_number_format_is_slow_where_no_instruction_is_for_it(cpuinfo, slow):
    assert slow_formats(cpuinfo) == slow


@pytest.mark.parametrize(
    ("machine", "dtype"),
    [
        (Machine(64.0, slow_formats=frozenset({"bfloat16"})), "float32"),
        (Machine(None, slow_formats=frozenset({"bfloat16"})), "float32"),
        (Machine(20.0, slow_formats=frozenset({"bfloat16"})), "bfloat16"),
        (Machine(64.0, slow_formats=frozenset({"float16"})), "bfloat16"),
        (Machine(64.0, (80.0,), slow_formats=frozenset({"bfloat16"})), "bfloat16"),
    ],
    ids=["slow", "slow, memory unknown", "float32 does not fit", "fast", "on a GPU"],
)
def test_a_slow_number_format_gives_way_to_float32_where_that_fits(machine, dtype):
    chosen = library.choose_format(model("llama-3.1-8b", engine="transformers"), machine)
    assert chosen.row.dtype == dtype
    note = "Llama3 8B is run in float32: this processor has no instructions for bfloat16"
    assert [each[: len(note)] for each in chosen.notes] == [note] * (dtype == "float32")


@pytest.mark.parametrize(
    ("name", "changes", "machine", "says"),
    [
        ("llama-3.1-8b", HERE, Machine(16.0), r"17.4 GB of memory: .*; 16.0 GB are free here. Cho"),
        # float32 is halved if that is enough, and kept if it is not.
        ("gpt2-xl", HERE, Machine(6.0), r"Choose --dtype bfloat16 \(4.4 GB\)"),
        ("gpt2-xl", HERE, Machine(4.0), "Choose --profile slurm"),
        ("llama-3.1-8b", {}, Machine(64.0, (16.0,)), "of the GPU's memory: .*; 16.0 GB are free"),
        ("llama-3.1-8b", {}, Machine(64.0, (16.0,)), "Choose --engine transformers, in the mach"),
        # vLLM on CPUs keeps keys and values in the machine's memory.
        ("llama-3.1-8b", {}, Machine(20.0), "needs 22.1 GB of memory"),
    ],
)
def test_what_cannot_fit_is_refused_with_what_to_do(name, changes, machine, says):
    with pytest.raises(UserError, match=says):
        check_memory([model("ngram-5"), model(name, **changes)], machine)


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Make control groups of a container within a slice, on a machine with 8 GB to spare."""
    own = tmp_path / "slice" / "own"
    own.mkdir(parents=True)
    kilobytes = {"MemTotal": 16_000_000, "MemFree": 3_000_000, "MemAvailable": 8_000_000}
    kilobytes |= dict.fromkeys(("Buffers", "Cached", "Shmem", "Active", "Inactive"), 0)
    lines = (f"{name}: {number} kB\n" for name, number in kilobytes.items())
    (tmp_path / "meminfo").write_text("".join(lines))
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path))
    monkeypatch.setattr(library, "CGROUPS", tmp_path)
    monkeypatch.setattr(library, "memory_groups", lambda: [own])
    return own


def limit(group: Path, most, used, cache):
    (group / "memory.max").write_text(f"{most}\n")
    (group / "memory.current").write_text(f"{used}\n")
    (group / "memory.stat").write_text(f"anon 5\ninactive_file {cache}\n")


def test_memory_is_limited_by_each_control_group_and_caches_do_not_count(groups):
    limit(groups, "max", GB, 0)
    assert library.available_memory_gb() == pytest.approx(8.192)
    limit(groups, 6 * GB, 3 * GB, 2 * GB)
    assert library.available_memory_gb() == pytest.approx(5.0)
    limit(groups.parent, 4 * GB, 2 * GB, 0)
    assert library.available_memory_gb() == pytest.approx(2.0)
    # Control groups of version 1.
    (groups / "memory.limit_in_bytes").write_text("3000000000\n")
    (groups / "memory.usage_in_bytes").write_text("2000000000\n")
    (groups / "memory.stat").write_text("inactive_file 1\ntotal_inactive_file 500000000\n")
    assert library.available_memory_gb() == pytest.approx(1.5)


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """Write a program like the driver's that reports two GPUs, or the requested ones."""
    program = tmp_path / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\ncase "$*" in *"-i 1"*) echo 40000;; *) echo 143000; echo 40000;; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return monkeypatch


def test_gpus_are_those_that_this_process_may_use(driver):
    both = (143000 * 2**20 / GB, 40000 * 2**20 / GB)
    assert library.visible_gpus_gb() == both
    driver.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert library.visible_gpus_gb() == both[1:]
    for nothing in ("", "-1"):
        driver.setenv("CUDA_VISIBLE_DEVICES", nothing)
        assert library.visible_gpus_gb() == ()
    driver.delenv("CUDA_VISIBLE_DEVICES")
    driver.setenv("PATH", "/nowhere")
    assert library.visible_gpus_gb() == ()
