"""Load tokenizers in Hugging Face's layout, and check their ids by the model's files.

transformers may make a tokenizer whose ids differ from the ids of ``tokenizer.json``, with which
the model was trained. ``load_tokenizer`` compares the two on ``sample_texts``.
"""

import json
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

import transformers
from tokenizers import Tokenizer

from blimpworks.errors import UserError

FILE = "tokenizer.json"
PROCESSOR_TEMPLATE = "chat_template.json"
"""File with the chat template of a model that sees or hears, which its tokenizer does not read."""
SENTENCEPIECE = ("spiece.model", "tokenizer.model", "sentencepiece.bpe.model", "spm.model")
LETTERS = (
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "äöüßéèêñçåøœæıŁž", "0123456789",
    "абвгдежзийклмнопрст", "αβγδεζηθικλμνξ", "אבגדהוזחטיכל", "ابتثجحخدذرزسشصض", "अआइईउऊकखगघङचछ",
    "กขคงจฉชซญดตถ", "的一是不了人我在有他这中", "あいうえおカキクケコ", "가나다라마바사아자차",
)  # fmt: skip
"""Letters of a dozen scripts, for texts by which tokenizers are compared."""


def sample_texts(count: int = 120) -> list[str]:
    """Return texts of random words in several scripts; most have a final punctuation mark."""
    draw = random.Random(0)
    texts = []
    for number in range(count):
        scripts = [LETTERS[number % len(LETTERS)], draw.choice(LETTERS)]
        sample_words = [
            "".join(draw.choices(draw.choice(scripts), k=draw.randint(1, 8)))
            for _ in range(draw.randint(1, 6))
        ]
        texts.append(" ".join(sample_words) + draw.choice(["", ".", "!", "?"]))
    return texts


def _settings(state: bytes | None) -> Any:
    """Parse a component's JSON, such as the normalizer's, without fields that change no ids."""

    # Empty values are defaults, which files may state or leave out; so these fields are dropped.
    def effective(value: Any) -> Any:
        if isinstance(value, dict):
            pairs = (
                (key, effective(field)) for key, field in value.items() if key != "trim_offsets"
            )
            return {key: field for key, field in pairs if field not in (None, False, "")}
        return [effective(field) for field in value] if isinstance(value, list) else value

    return effective(json.loads(state)) if state else None


def differing_components(tokenizer: Tokenizer, original: Tokenizer) -> list[str]:
    """Return the names of components, such as ``normalizer``, in which two tokenizers differ."""
    names = []
    for name in ("normalizer", "pre_tokenizer", "model"):
        states = [
            None if component is None else component.__getstate__()
            for component in (getattr(tokenizer, name), getattr(original, name))
        ]
        if states[0] != states[1] and _settings(states[0]) != _settings(states[1]):
            names.append(name)
    added = {number: str(token) for number, token in tokenizer.get_added_tokens_decoder().items()}
    expected = original.get_added_tokens_decoder()
    if any(added.get(number) != str(token) for number, token in expected.items()):
        names.append("added_tokens")
    return names


class LoadedTokenizer(NamedTuple):
    """A tokenizer, and the files that its ids come from."""

    tokenizer: transformers.PreTrainedTokenizerBase
    source: str
    """Sentence about the file that the ids come from."""
    variant: str = ""
    """Ending of the key of stored results: a space and "tokenizer.json" if that file was loaded
    itself, because transformers' tokenizer has other ids; else empty."""


def _frame(tokenizer: Tokenizer) -> list[int]:
    # The special tokens that a post-processor puts around a text show in the ids of a short one.
    return tokenizer.encode("a 1").ids


def _load(folder: Path) -> Any:
    """Load the tokenizer that transformers makes of a folder's files."""
    config, path = None, folder / "config.json"
    if path.exists():
        name = json.loads(path.read_text(encoding="utf-8")).get("model_type")
        if name and name not in transformers.CONFIG_MAPPING:
            # transformers would read the same, but warn about the unknown type.
            config = transformers.PreTrainedConfig.from_json_file(path)
    return transformers.AutoTokenizer.from_pretrained(
        folder, config=config, local_files_only=True, trust_remote_code=False
    )


def load_tokenizer(folder: Path) -> LoadedTokenizer:
    """Load the tokenizer beside a model, with the chat template of its files.

    transformers makes many tokenizers only from vocabulary and merges. If another component of
    ``tokenizer.json`` is lost in this way, the file itself is loaded. Raises UserError if the
    tokenizer's ids differ from those of its files, or it has no vocabulary.
    """
    loaded = _load_with_ids(folder)
    template = folder / PROCESSOR_TEMPLATE
    if loaded.tokenizer.chat_template is None and template.exists():
        fields = json.loads(template.read_text(encoding="utf-8"))
        loaded.tokenizer.chat_template = fields["chat_template"]
    return loaded


def _load_with_ids(folder: Path) -> LoadedTokenizer:
    """Load transformers' tokenizer, or ``tokenizer.json`` itself if it differs; compare ids."""
    path = folder / FILE
    if not path.exists():
        made_tokenizer = _load(folder)
        _require_vocabulary(made_tokenizer, folder)
        return LoadedTokenizer(made_tokenizer, _checked_by_sentencepiece(made_tokenizer, folder))
    try:
        original = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no other class
        raise ValueError(f"{path}: {error}") from error
    original.no_truncation()
    original.no_padding()
    tokenizer: Any = None
    try:
        tokenizer = _load(folder)
        # Names of the file's components that transformers changes, so that ids may differ.
        lost = differing_components(tokenizer.backend_tokenizer, original)
        if not lost and _frame(tokenizer.backend_tokenizer) != _frame(original):
            # If tokenizer_config.json has these settings, its authors chose other special tokens.
            explicit = {"add_bos_token", "add_eos_token"} & {*tokenizer.init_kwargs}
            lost = [] if explicit else ["post_processor"]
    except Exception as error:  # transformers' classes may raise any error
        lost = [f"everything ({' '.join(str(error).split())[:80]})"]
    note = f"ids are those of {FILE}"
    if lost:
        tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        note += f", loaded itself, because transformers changes its {', '.join(lost)}"
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    texts = sample_texts()
    rows = zip(
        backend.encode_batch(texts, add_special_tokens=False),
        original.encode_batch(texts, add_special_tokens=False),
        texts,
        strict=True,
    )
    for loaded, expected, text in rows:
        if loaded.ids != expected.ids:
            raise UserError(
                f"{path} gives {text!r} the tokens {expected.tokens[:8]}, and the tokenizer that "
                f"transformers loads from there {loaded.tokens[:8]}; expected the same. Remove "
                "settings from tokenizer_config.json that contradict tokenizer.json."
            )
    return LoadedTokenizer(tokenizer, note, f" {FILE}" if lost else "")


def _require_vocabulary(tokenizer: transformers.PreTrainedTokenizerBase, folder: Path) -> None:
    """Raise UserError for a tokenizer of special tokens alone, as made if its files are missing."""
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    ordinary = tokenizer.get_vocab().keys() - added
    if not any(re.search(r"\w", token) for token in ordinary):
        raise UserError(
            f"{folder} has no vocabulary, so that transformers makes a {type(tokenizer).__name__} "
            "of special tokens alone; expected tokenizer.json, vocab.txt or the like. Add the "
            "files of the tokenizer that the model was trained with."
        )


def _checked_by_sentencepiece(tokenizer: transformers.PreTrainedTokenizerBase, folder: Path) -> str:
    """Return the ``source`` after a comparison with the sentencepiece model. Raises UserError."""
    path = next((folder / name for name in SENTENCEPIECE if (folder / name).exists()), None)
    if path is None or not tokenizer.is_fast:
        return "made by transformers from its vocabulary; there is no other file to compare with"
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=str(path))
    unknown = processor.id_to_piece(processor.unk_id())
    for text in sample_texts():
        expected = [processor.id_to_piece(number) for number in processor.encode(text)]
        pieces = tokenizer.convert_ids_to_tokens(
            tokenizer(text, add_special_tokens=False).input_ids
        )
        pieces = [unknown if token == tokenizer.unk_token else token for token in pieces]
        if pieces != expected:
            raise UserError(
                f"{path} gives {text!r} the pieces {expected[:8]}, and the tokenizer that "
                f"transformers makes of it {pieces[:8]}; expected the same. Add the tokenizer.json "
                "that the model was trained with."
            )
    return f"pieces are those of {path.name}"
