"""Find the facts of a model from its files: architecture, number format, size, start of texts.

``facts_of`` (local models) and ``described_facts`` return a ``ModelFacts``. No model's code is run.

Before a text's first token, a model reads a *start*: some tokens, or none. A *policy* names it:

- ``bos``, ``eos``: the token that begins or ends sentences; ``token:TEXT``: a token or string
- ``tokenizer``: the tokens that the tokenizer adds, and an error if it adds none
- ``encoded``: the tokens that the tokenizer adds, perhaps none
- ``likeliest``: the start with the best scores, chosen by ``scoring.selftest``
- ``skip``: no tokens, and the text's first token is not scored
"""

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from blimpworks.campaign.engines import POLICIES, default_engine
from blimpworks.campaign.settings.scoring import FirstToken
from blimpworks.errors import UserError
from blimpworks.models import checkpoint, own_code
from blimpworks.models.converted import as_folder
from blimpworks.models.ngram import is_binary, unpacked_bytes

log = logging.getLogger(__name__)
TOKEN = "token:"  # beginning of policies that state a token or string
ESCAPES = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}
"""White space that cells of tables cannot contain, and its spelling in a policy."""
PROBE = "a b अ 一 1."
"""Text for which most tokenizers have a token."""
CONTENT = "§§§"
"""Message that no chat template contains itself, so that it is found in a rendered dialogue."""
MOST_STARTS = 12  # to save time: the model scores texts after each start
DOCUMENT = re.compile(
    r"\W*(s|bos|eos|eod|eop|sop|cls|sep"
    r"|(begin|start|end)[\W_]*of[\W_]*(text|doc(ument)?|sent(ence)?|seq(uence)?|file|story))\W*",
    re.IGNORECASE,
)
"""Matches special tokens that begin or end documents, such as ``<s>`` and ``[begin of text]``."""


def policy_of(text: str) -> str:
    """Return the policy that a user's text means: a policy, ``none``, a token or a string."""
    if text in POLICIES or text.startswith(TOKEN):
        return text
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return "skip" if text == "none" else TOKEN + text


def leading_ids(tokenizer: Any) -> list[int]:
    """Return the ids that a tokenizer adds before a text."""
    for probe in (PROBE, *tokenizer.get_vocab()):
        encoded = tokenizer(probe, return_special_tokens_mask=True)
        # Pairs (1, id) for added ids, (0, id) for ids of the text. If all ids are added ones, the
        # tokenizer has no token for this text, and the next text is tried.
        pairs = [*zip(encoded["special_tokens_mask"], encoded["input_ids"], strict=True)]
        if not pairs or not all(added for added, _ in pairs):
            return [number for _, number in takewhile(lambda pair: pair[0], pairs)]
    return []


def _text_ids(tokenizer: Any, text: str, where: str) -> list[int]:
    """Return the id of the token named ``text``, else the ids of ``text`` without added tokens."""
    vocabulary = tokenizer.get_vocab()
    if text in vocabulary:
        return [vocabulary[text]]
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    names = [token.content for token in tokenizer.added_tokens_decoder.values()]
    unknown = tokenizer.unk_token_id in ids and tokenizer.unk_token not in text
    # A word such as ``bso``, or a text in brackets, is probably a misspelt name of a token, unless
    # it consists of several names: ``<s><s>`` is encoded in special tokens alone.
    misspelt = re.fullmatch(r"\w+|[<\[{].*[>\]}]", text) and not (
        {*ids} <= {*tokenizer.added_tokens_decoder}
    )
    if ids and not unknown and not misspelt:
        return ids
    similar = get_close_matches(text, [*names, *POLICIES, "none"], n=1)
    hint = f"; did you mean {similar[0]!r}?" if similar else "."
    lack = "" if misspelt else ", and no string that it can encode"
    raise UserError(
        f"{where}: first_token is {text!r}, which is no token of the tokenizer's vocabulary{lack}; "
        f"expected {', '.join(POLICIES)}, none, a token or a string such as '\\n'{hint}"
    )


def start_ids(tokenizer: Any, policy: str, where: str) -> list[int]:
    """Return the ids that a policy puts before each text; none for ``likeliest``, chosen later.

    Messages call the model ``where``. Raises UserError if the tokenizer has no such token, adds
    nothing before a text (``tokenizer``), or cannot encode the string.
    """
    if policy in ("skip", "likeliest"):
        return []
    if policy.startswith(TOKEN):
        text = policy.removeprefix(TOKEN)
        for character, escape in ESCAPES.items():
            text = text.replace(escape, character)
        return _text_ids(tokenizer, text, where)
    if policy == "encoded":
        return leading_ids(tokenizer)
    if policy == "tokenizer":
        ids, lack = leading_ids(tokenizer), "puts nothing before a text"
    else:
        token_id = getattr(tokenizer, f"{policy}_token_id")
        ids, lack = [] if token_id is None else [token_id], f"has no {policy} token"
    if not ids:
        raise UserError(
            f"{where}: first_token is {policy!r}, but the tokenizer {lack}; choose another of "
            f"{', '.join(POLICIES)}, or a token."
        )
    return ids


def start_text(tokenizer: Any, policy: str, ids: list[int]) -> str:
    """Describe a policy with its ids, such as ``after '<s>' (bos)``; ``not counted`` for none."""
    if not ids:
        return "after the likeliest start" if policy == "likeliest" else "not counted"
    text = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    text = text or "".join(tokenizer.convert_ids_to_tokens(ids))
    role = "" if policy.startswith(TOKEN) else f" ({policy})"
    return f"after {text!r}{role}"


def _rendered(tokenizer: Any) -> list[str]:
    """Render a dialogue by the chat template, and split it at special tokens and contents.

    The texts between are at even places, such as ``["", "<|user|>", "", "§§§", "", "<|end|>", …]``.
    Returns one empty text if the template renders no dialogue.
    """
    # Templates of models that also read images may expect a message's content as a list.
    for wrap in (str, lambda text: [{"type": "text", "text": text}]):
        roles = ("user", "assistant") * 2
        messages = [{"role": role, "content": wrap(CONTENT)} for role in roles]
        try:
            text = tokenizer.apply_chat_template(messages, tokenize=False)
        # Templates are programs, which may raise any exception.
        except Exception as error:
            log.debug("the chat template renders no dialogue: %s", error)
            continue
        if CONTENT in text:
            names = {token.content for token in tokenizer.added_tokens_decoder.values()}
            longest_first = sorted({*names, CONTENT}, key=len, reverse=True)
            return re.split(f"({'|'.join(map(re.escape, longest_first))})", text)
    return [""]


def role_openers(tokenizer: Any) -> set[int]:
    """Return the ids that the chat template puts right before a role or content (``<|user|>``)."""
    pieces = _rendered(tokenizer)
    sentence_ends = (tokenizer.bos_token, tokenizer.eos_token)
    openers = set[str]()
    # Tokens and contents are at odd places, texts between them at even ones. A token opens a role
    # if the name of the role (``user``), or a content, follows it.
    next_tokens = [*pieces[3::2], ""]
    for token, text, next_token in zip(pieces[1::2], pieces[2::2], next_tokens, strict=False):
        before_role = re.fullmatch(r"[^\W\d_]+\s*", text)
        before_content = next_token == CONTENT and not text.strip()
        if before_role or (before_content and token not in sentence_ends):
            openers.add(token)
    return {tokenizer.convert_tokens_to_ids(token) for token in openers - {CONTENT}}


def _policies(tokenizer: Any) -> Iterator[str]:
    """Yield policies to try; special tokens inside a dialogue are not among them."""
    yield from ("tokenizer", "bos", "eos", policy_of("\n"), "skip")
    pieces = _rendered(tokenizer)
    dialogue_tokens = {*pieces[pieces.index(CONTENT) :]} if CONTENT in pieces else set()
    for _, token in sorted(tokenizer.added_tokens_decoder.items()):
        if DOCUMENT.fullmatch(token.content) and token.content not in dialogue_tokens:
            yield TOKEN + token.content


def candidates(tokenizer: Any) -> dict[str, list[int]]:
    """Return at most ``MOST_STARTS`` starts, as {policy: ids}, such as {"bos": [1], "skip": []}."""
    policy_of_start: dict[tuple[int, ...], str] = {}
    for policy in _policies(tokenizer):
        try:
            start = tuple(start_ids(tokenizer, policy, ""))
        except UserError:
            continue
        # Of policies with the same start, the first counts; but ``bos`` tells more than
        # ``tokenizer`` if the tokenizer adds just the bos token.
        if policy == "bos" and policy_of_start.get(start) == "tokenizer":
            policy_of_start[start] = policy
        elif len(policy_of_start) < MOST_STARTS:
            policy_of_start.setdefault(start, policy)
    return {policy: [*start] for start, policy in policy_of_start.items()}


ARCHITECTURE_BY_SUFFIX = {
    "ForCausalLM": "causal",
    "LMHeadModel": "causal",
    "ForMaskedLM": "masked",
    "ForConditionalGeneration": "encoder-decoder",
    "ForSeq2SeqLM": "encoder-decoder",
}
"""Architecture by the last part of the class that a configuration names (GPT2LMHeadModel)."""
FORMATS = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
"""Number format by its name in safetensors files."""
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}  # size of a number


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts of a model that is not loaded."""

    architecture: str
    """causal, masked, encoder-decoder, ngram or lstm."""
    dtype: str = "float32"
    """Number format of the weights, in which the model is also scored."""
    first_token: FirstToken = "bos"
    """Policy for the tokens before a sentence's first token."""
    parameters: int | None = None
    """Number of parameters; None for n-grams and quantised weights, which are not counted."""
    chat: bool = False  # whether the model has a chat template
    scope: str = "multi"
    """ISO 639-3 code of a monolingual model, else ``multi``."""
    file_gb: float = 0.0
    """Size of the files with weights [GB], which is used if the number of parameters is None."""
    quantisation: str = ""
    """File that states a quantisation, and the method; empty if the weights are not quantised."""
    start: str = ""
    """Description of the start of texts; empty if no tokenizer was loaded."""
    code: str = ""
    """Digest of the model's own code; empty without any."""

    @property
    def engine(self) -> str:
        """Name of the engine that scores the model by default."""
        return default_engine(self.architecture).name


class UserChoice(NamedTuple):
    """Facts of a model that a user states, where its files leave a choice."""

    architecture: str | None = None
    """Architecture if the configuration names none."""
    first_token: FirstToken | None = None
    """Policy in place of the one that ``_policy_of`` finds."""
    trusted: Collection[str] = ()
    """Digests of models' own code that may run."""


ALL_FROM_FILES = UserChoice()


def architecture_of(config: Mapping[str, Any], where: str, default: str | None = None) -> str:
    """Return the architecture of the class that a configuration names, else ``default``.

    Messages call the configuration ``where``. Raises UserError if this is no language model.
    """
    classes = config.get("architectures") or []
    # Models of images and text are called ForConditionalGeneration, but contain a causal model.
    has_images = not config.get("is_encoder_decoder") and (
        "text_config" in config or "vision_config" in config
    )
    for name in classes:
        if name.endswith("WithLMHeadModel"):  # XLM and FlauBERT, which are masked by default
            return "causal" if config.get("causal") else "masked"
        for suffix, architecture in ARCHITECTURE_BY_SUFFIX.items():
            if name.endswith(suffix):
                if has_images and architecture == "encoder-decoder":
                    return "causal"
                return architecture
    if default is None:
        raise UserError(
            f"{where}: architectures is {classes}; expected a language model "
            f"({', '.join(f'…{suffix}' for suffix in ARCHITECTURE_BY_SUFFIX)}). Name another model."
        )
    return default


def _policy_of(tokenizer: Any) -> FirstToken:
    """Return the policy that suits a tokenizer, if the user names none.

    Chat models get ``likeliest`` if their tokenizer adds no token before a text, or if the last
    added one opens a role. Others get what the tokenizer adds, else ``bos``, ``eos`` or ``skip``.
    """
    leading = leading_ids(tokenizer)
    if tokenizer.chat_template and not {*leading[-1:]} - role_openers(tokenizer):
        return "likeliest"
    if leading:
        return "bos" if leading == [tokenizer.bos_token_id] else "tokenizer"
    if tokenizer.bos_token_id is not None:
        return "bos"
    return "eos" if tokenizer.eos_token_id is not None else "skip"


def _check_vocabulary(tokenizer: Any, folder: Path, where: str) -> None:
    """Raise UserError if transformers would use a vocabulary with another tokenizer's rules.

    Without a tokenizer.json, transformers takes the rules of the model's type. By default, BERT's
    rules change texts to lower case, and GPT-2's rules write the letter ``Ġ`` for a space.
    """
    if (folder / "tokenizer.json").exists() or not tokenizer.is_fast:
        return
    backend = tokenizer.backend_tokenizer
    vocabulary = tokenizer.get_vocab().keys() - {*tokenizer.all_special_tokens}
    is_lowered = backend.normalizer is not None and backend.normalizer.normalize_str("A") == "a"
    is_default = (folder / "vocab.txt").exists() and "do_lower_case" not in _settings_of(folder)
    cased = sorted(token for token in vocabulary if token != token.lower())
    if is_lowered and is_default and len(cased) > 0.01 * len(vocabulary):
        raise UserError(
            f"{where} has vocab.txt with capitals (such as {cased[0]!r}), and transformers would "
            'lower-case each text; expected {"do_lower_case": false} in tokenizer_config.json, or '
            "true if the model was trained on lower-cased texts. Add it."
        )
    # GPT-2's rules write the space between two words as a letter of the second.
    pieces = backend.pre_tokenizer.pre_tokenize_str("a b") if backend.pre_tokenizer else []
    is_of_bytes = any("Ġ" in piece for piece, _ in pieces)
    if is_of_bytes and not any("Ġ" in token for token in vocabulary):
        raise UserError(
            f"{where} has a vocabulary without 'Ġ', and transformers would read it like GPT-2's, "
            "which has that letter for a space, so that spaces were lost; expected tokenizer.json. "
            "Add the one that the model was trained with."
        )


def _check_trained(tokenizer: Any, ids: list[int], folder: Path, where: str) -> None:
    """Raise UserError for an id that tokenizer.json lacks, so that the model was not trained on it.

    transformers gives new ids to tokens that only tokenizer_config.json, or a class, names.
    """
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if not path.exists():
        return
    original = Tokenizer.from_file(str(path))
    for number in ids:
        if original.id_to_token(number) is None:
            token = tokenizer.convert_ids_to_tokens(number)
            raise UserError(
                f"{where}: texts would be read with the token {token!r}, which tokenizer.json "
                "lacks; expected one that the model was trained with. Correct the tokens that "
                f"tokenizer_config.json names, or choose another first_token: {', '.join(POLICIES)}"
                ", or a token."
            )


def first_token_of(
    folder: Path, architecture: str, where: str, requested: FirstToken | None = None
) -> tuple[FirstToken, str]:
    """Return the policy of a model, and a description of its start, such as ``after '<s>' (bos)``.

    The policy ``requested`` takes precedence. Models that are not causal have one start only, which
    is not described. Raises UserError if a model of transformers has no usable tokenizer.
    """
    if architecture in ("lstm", "ngram"):
        return "bos", ""
    from blimpworks.models.hub_tokenizers import load_tokenizer

    try:
        tokenizer = load_tokenizer(folder).tokenizer
    except UserError:
        raise
    except Exception as error:  # transformers' classes may raise any error
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise UserError(
            f"{where} has no tokenizer that transformers can load ({reason}); expected "
            "tokenizer.json or the like beside the weights. Add the tokenizer's files."
        ) from error
    _check_vocabulary(tokenizer, folder, where)
    if architecture != "causal":
        mask_id = [] if tokenizer.mask_token_id is None else [tokenizer.mask_token_id]
        _check_trained(tokenizer, [*leading_ids(tokenizer), *mask_id], folder, where)
        return "bos", ""
    policy = requested or _policy_of(tokenizer)
    start = start_ids(tokenizer, policy, where)
    _check_trained(tokenizer, start, folder, where)
    return policy, start_text(tokenizer, policy, start)


def format_of(counts: Mapping[str, int], config: Mapping[str, Any]) -> str:
    """Return the number format of most weights, else the format that a configuration names."""
    counted_formats = [name for name in FORMATS if counts.get(name)]
    if counted_formats:
        return FORMATS[max(counted_formats, key=lambda name: counts[name])]
    configured = config.get("dtype") or config.get("torch_dtype")
    return configured if configured in BYTES else "float32"


def _settings_of(folder: Path) -> dict[str, Any]:
    path = folder / "tokenizer_config.json"
    return checkpoint.read_json(path, "a tokenizer's settings") if path.exists() else {}


def _has_chat_template(folder: Path) -> bool:
    files = (folder / f"chat_template.{suffix}" for suffix in ("jinja", "json"))
    return any(path.exists() for path in files) or bool(_settings_of(folder).get("chat_template"))


def _count_parameters(counts: Mapping[str, int], quantisation: str) -> int | None:
    """Return the number of floats; None for quantised weights, which pack several into one."""
    if quantisation:
        return None
    return sum(n for name, n in counts.items() if name.startswith(("F", "BF"))) or None


def _facts_of_checkpoint(folder: Path, start: FirstToken | None) -> ModelFacts:
    """Return the facts of a directory with a checkpoint.json. Raises UserError for Python files."""
    checkpoint.refuse_own_code(folder)
    described = checkpoint.read_description(folder / checkpoint.FILE_NAME)
    model_files = checkpoint.model_files(folder.iterdir(), str(folder))
    files = [path for path in model_files if checkpoint.is_weights(path)]
    model = folder / checkpoint.NGRAM_FILES[0]
    first_token, start_note = described.first_token, ""
    if start:
        first_token, start_note = first_token_of(folder, described.architecture, str(folder), start)
    quantisation = checkpoint.quantisation_of(folder)
    return ModelFacts(
        architecture=described.architecture,
        dtype=described.dtype,
        first_token=first_token,
        parameters=_count_parameters(checkpoint.count_numbers(files), quantisation),
        chat=_has_chat_template(folder),
        scope=described.scope,
        file_gb=checkpoint.gigabytes([model] if model.exists() else files),
        quantisation=quantisation,
        start=start_note,
        code=described.files.get(own_code.FILE, ""),
    )


def described_facts(
    folder: Path,
    counts: Mapping[str, int],
    where: str,
    file_gb: float = 0.0,
    choice: UserChoice = ALL_FROM_FILES,
) -> ModelFacts:
    """Return the facts of a model from its configuration and tokenizer in Hugging Face's layout.

    ``counts`` has how many numbers the weights have in each format (``{"BF16": 124000000}``), and
    ``file_gb`` is their size [GB]; their files need not be in ``folder``. Messages call the model
    ``where``. Raises UserError as ``architecture_of``, ``check_code`` and ``first_token_of`` do.
    """
    code = own_code.check_code(folder, where, choice.trusted)
    config = checkpoint.read_json(folder / "config.json", "a model's configuration")
    architecture = architecture_of(config, f"{where}: config.json", choice.architecture)
    quantisation = checkpoint.quantisation_of(folder)
    narrow = sorted(name for name in counts if re.match("F[468]_|F4", name))  # such as F8_E4M3
    if narrow and not quantisation:
        raise UserError(
            f"{where} has weights in {narrow[0]}, and no configuration says by what they are "
            f"scaled; expected {', '.join(FORMATS)}. Name the model that they were made of."
        )
    first_token, start_note = first_token_of(folder, architecture, where, choice.first_token)
    return ModelFacts(
        architecture=architecture,
        dtype=format_of(counts, config),
        first_token=first_token,
        parameters=_count_parameters(counts, quantisation),
        chat=_has_chat_template(folder),
        file_gb=file_gb,
        quantisation=quantisation,
        start=start_note,
        code=code.digest if code else "",
    )


def facts_of(model: Path, choice: UserChoice = ALL_FROM_FILES) -> ModelFacts:
    """Return the facts of a local model: a directory, a GGUF file, an adapter or an n-gram file.

    A GGUF file is converted first, and an adapter is merged into its base. The code in a checkpoint
    is checked when it is run. Raises UserError for pickled weights, an incomplete model, code that
    is not trusted, and anything that is no language model.
    """
    path = as_folder(model)
    if path.is_file():
        is_binary(path)  # raises UserError for a file without n-grams
        return ModelFacts("ngram", file_gb=unpacked_bytes(path) / 1e9)
    if not path.is_dir():
        raise UserError(f"{path} is no directory; expected a model in Hugging Face's layout.")
    checkpoint.refuse_adapter((file.name for file in path.iterdir()), str(path))
    if (path / checkpoint.FILE_NAME).exists():
        return _facts_of_checkpoint(path, choice.first_token)
    # The configuration is read first, since a directory without one is no model.
    config = checkpoint.read_json(path / "config.json", "a model's configuration")
    if own_code.check_code(path, str(path), choice.trusted) is None:
        checkpoint.refuse_own_code(path)
    architecture_of(config, f"{path / 'config.json'}", choice.architecture)
    files = checkpoint.weight_files(path)
    counts, size = checkpoint.count_numbers(files), checkpoint.gigabytes(files)
    return described_facts(path, counts, str(path), size, choice)
