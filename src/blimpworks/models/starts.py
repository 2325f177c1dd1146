"""Find what can stand before a text: ids, by policy, and their wording.

A policy is a token's role (``bos``, ``eos``), or ``token:TEXT``. It can also be ``tokenizer`` for
what the tokenizer itself adds, ``likeliest`` for the best by measurement, or ``skip`` for nothing.
"""

import logging
import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import takewhile
from typing import Any

from blimpworks.campaign.engines import POLICIES
from blimpworks.errors import UserError

log = logging.getLogger(__name__)

TOKEN = "token:"
ESCAPES = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}
"""White space that table cells cannot hold, and its spelling in a policy."""
PROBE = "a b अ 一 1."
CONTENT = "§§§"
MOST = 12
"""Most candidates for the start of a text."""
DOCUMENT = re.compile(
    r"\W*(s|bos|eos|eod|eop|sop|cls|sep"
    r"|(begin|start|end)[\W_]*of[\W_]*(text|doc(ument)?|sent(ence)?|seq(uence)?|file|story))\W*",
    re.IGNORECASE,
)
"""Names of special tokens that begin or end documents, in any brackets."""


def policy_of(text: str) -> str:
    """Return the policy that a user means: its name, ``none``, a token, or any other string."""
    if text in POLICIES or text.startswith(TOKEN):
        return text
    for real, written in ESCAPES.items():
        text = text.replace(real, written)
    return "skip" if text == "none" else TOKEN + text


def leading_ids(tokenizer: Any) -> list[int]:
    """Return the ids that a tokenizer itself puts before a text."""
    # A text of which nothing is encoded does not show what stands before and what behind it.
    for probe in (PROBE, *tokenizer.get_vocab()):
        encoded = tokenizer(probe, return_special_tokens_mask=True)
        pairs = [*zip(encoded["special_tokens_mask"], encoded["input_ids"], strict=True)]
        if not pairs or not all(added for added, _ in pairs):
            return [number for _, number in takewhile(lambda pair: pair[0], pairs)]
    return []


def _text_ids(tokenizer: Any, text: str, where: str) -> list[int]:
    """Return a token's id by its exact name, else a string's ids without special tokens."""
    vocabulary = tokenizer.get_vocab()
    if text in vocabulary:
        return [vocabulary[text]]
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    names = [token.content for token in tokenizer.added_tokens_decoder.values()]
    unknown = tokenizer.unk_token_id in ids and tokenizer.unk_token not in text
    # A misspelt name is no string that anybody means.
    misspelt = re.fullmatch(r"\w+|[<\[{].*[>\]}]", text) and not (
        {*ids} <= {*tokenizer.added_tokens_decoder}
    )
    if ids and not unknown and not misspelt:
        return ids
    close = get_close_matches(text, [*names, *POLICIES, "none"], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    lack = "" if misspelt else ", and no string that it can encode"
    raise UserError(
        f"{where}: first_token is {text!r}, which is no token of the tokenizer's vocabulary{lack}; "
        f"expected {', '.join(POLICIES)}, none, a token or a string such as '\\n'{hint}"
    )


def start_ids(tokenizer: Any, policy: str, where: str) -> list[int]:
    """Return a policy's ids before each text; none for ``skip`` and an unchosen ``likeliest``.

    Messages call the model ``where``. Raises UserError where the tokenizer has no such token, puts
    nothing before a text itself, or cannot encode the string.
    """
    if policy in ("skip", "likeliest"):
        return []
    if policy.startswith(TOKEN):
        text = policy.removeprefix(TOKEN)
        for real, written in ESCAPES.items():
            text = text.replace(written, real)
        return _text_ids(tokenizer, text, where)
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
    """Word what conditions the first token: ``after '<s>' (bos)``, or ``not counted``."""
    if not ids:
        return "after the likeliest start" if policy == "likeliest" else "not counted"
    text = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    text = text or "".join(tokenizer.convert_ids_to_tokens(ids))
    role = "" if policy.startswith(TOKEN) else f" ({policy})"
    return f"after {text!r}{role}"


def _rendered(tokenizer: Any) -> list[str]:
    """Split a rendered dialogue: text, special token or content, text, …; else an empty text."""
    for wrap in (str, lambda text: [{"type": "text", "text": text}]):
        roles = ("user", "assistant") * 2
        messages = [{"role": role, "content": wrap(CONTENT)} for role in roles]
        try:
            text = tokenizer.apply_chat_template(messages, tokenize=False)
        # Templates are programs, which may raise anything.
        except Exception as error:
            log.debug("the chat template renders no dialogue: %s", error)
            continue
        if CONTENT in text:
            names = {token.content for token in tokenizer.added_tokens_decoder.values()}
            longest_first = sorted({*names, CONTENT}, key=len, reverse=True)
            return re.split(f"({'|'.join(map(re.escape, longest_first))})", text)
    return [""]


def role_openers(tokenizer: Any) -> set[int]:
    """Return ids that the chat template puts directly before a role's name or its content."""
    pieces = _rendered(tokenizer)
    ends = (tokenizer.bos_token, tokenizer.eos_token)
    openers = set[str]()
    for token, after, behind in zip(pieces[1::2], pieces[2::2], [*pieces[3::2], ""], strict=False):
        named = re.fullmatch(r"[^\W\d_]+\s*", after)
        if named or (behind == CONTENT and not after.strip() and token not in ends):
            openers.add(token)
    return {tokenizer.convert_tokens_to_ids(token) for token in openers - {CONTENT}}


def _policies(tokenizer: Any) -> Iterator[str]:
    yield from ("tokenizer", "bos", "eos", policy_of("\n"), "skip")
    pieces = _rendered(tokenizer)
    turns = {*pieces[pieces.index(CONTENT) :]} if CONTENT in pieces else set()
    for _, token in sorted(tokenizer.added_tokens_decoder.items()):
        if DOCUMENT.fullmatch(token.content) and token.content not in turns:
            yield TOKEN + token.content


def candidates(tokenizer: Any) -> dict[str, list[int]]:
    """Return a dozen possible starts of a text by policy: the ids of each, without repeats."""
    starts: dict[tuple[int, ...], str] = {}
    for policy in _policies(tokenizer):
        try:
            ids = tuple(start_ids(tokenizer, policy, ""))
        except UserError:
            continue
        # What the tokenizer puts is called bos where it is that.
        if (starts.get(ids), policy) == ("tokenizer", "bos"):
            starts[ids] = policy
        elif len(starts) < MOST:
            starts.setdefault(ids, policy)
    return {policy: [*ids] for ids, policy in starts.items()}
