import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from blimpworks.errors import UserError
from blimpworks.models import facts

SPECIALS = ["<s>", "</s>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "[INST]", "[/INST]"]
IDS = {name: number for number, name in enumerate([*SPECIALS, "<pad>", "<image>"])}
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}"
    "{% endfor %}"
)
MISTRAL = (
    "{{ '<s>' }}{% for m in messages %}{% if m.role == 'user' %}{{ '[INST]' + m.content + "
    "'[/INST]' }}{% else %}{{ m.content + '</s>' }}{% endif %}{% endfor %}"
)
PARTS = CHATML.replace("m.content", "m.content[0].text")
CHAT = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "chat": CHATML}
USUAL, END = ("bos", "eos", r"token:\n", "skip"), "token:<|endoftext|>"
REFUSING = "{{ raise_exception('no dialogues') }}"


def tokenizer(put=(), chat=None, **roles):
    """Return a tokenizer of bytes that puts some of the special tokens before a text."""
    names = [*IDS, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    backend = Tokenizer(models.BPE({name: number for number, name in enumerate(names)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([*IDS])
    if put:
        pairs = [(name, IDS[name]) for name in {*put, "<pad>"}]
        template = " ".join([*put, "$A", "<pad>"])
        backend.post_processor = processors.TemplateProcessing(template, None, pairs)
    roles = {"bos_token": "<s>", "eos_token": "</s>"} | roles
    return PreTrainedTokenizerFast(tokenizer_object=backend, chat_template=chat, **roles)


@pytest.mark.parametrize(
    ("settings", "policy", "words"),
    [
        ({"put": ["<s>"]}, "bos", "after '<s>' (bos)"),
        ({"put": ["</s>"]}, "tokenizer", "after '</s>' (tokenizer)"),
        ({"put": ["[INST]", "<s>"]}, "tokenizer", "after '[INST]<s>' (tokenizer)"),
        ({}, "bos", "after '<s>' (bos)"),
        ({"bos_token": None}, "eos", "after '</s>' (eos)"),
        ({"bos_token": None, "eos_token": None}, "skip", "not counted"),
        ({"chat": CHATML}, "likeliest", "after the likeliest start"),
        ({"put": ["<s>"], "chat": CHATML}, "bos", "after '<s>' (bos)"),
        ({"put": ["<|im_start|>"], "chat": CHATML}, "likeliest", "after the likeliest start"),
    ],
)
def test_what_the_tokenizer_puts_first_goes_before_roles(settings, policy, words, tmp_path):
    tokenizer(**settings).save_pretrained(tmp_path)
    assert facts.first_token_of(tmp_path, "causal", "m") == (policy, words)


@pytest.mark.parametrize(
    ("text", "policy", "ids"),
    [
        ("none", "skip", []),
        ("bos", "bos", [0]),
        ("eos", "eos", [1]),
        ("encoded", "encoded", []),
        ("<|endoftext|>", "token:<|endoftext|>", [2]),
        ("token:<s>", "token:<s>", [0]),
        ("<s><|endoftext|>", "token:<s><|endoftext|>", [0, 2]),
    ],
)
def test_a_user_names_a_role_or_any_token(text, policy, ids):
    assert facts.policy_of(text) == policy
    assert facts.start_ids(tokenizer(), policy, "m") == ids


@pytest.mark.parametrize("text", ["\n", r"\n", "\n\n", "a b\t"])
def test_a_string_is_encoded_as_it_is(text):
    policy = facts.policy_of(text)
    assert not {*"\n\t"} & {*policy}
    read = text.replace(r"\n", "\n")
    ids = facts.start_ids(tokenizer(), policy, "m")
    assert (tokenizer().decode(ids), len(ids)) == (read, len(read))
    assert facts.start_text(tokenizer(), policy, ids) == f"after {read!r}"


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        ("token:<|endoftxt|>", "no token of the tokenizer's vocabulary .* mean '<|endoftext|>'"),
        ("token:bso", "did you mean 'bos'"),
        ("tokenizer", "first_token is 'tokenizer', but the tokenizer puts nothing before a text"),
        ("bos", "first_token is 'bos', but the tokenizer has no bos token; choose another of bos"),
    ],
)
def test_what_is_no_start_is_one_sentence(policy, says):
    with pytest.raises(UserError, match=says):
        facts.start_ids(tokenizer(bos_token=None), policy, "m")


def test_what_an_unknown_token_would_stand_for_is_no_start():
    words = Tokenizer(models.WordLevel({"<unk>": 0, "the": 1}, unk_token="<unk>"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")
    with pytest.raises(UserError, match="no string that it can encode"):
        facts.start_ids(tokenizer, "token: .", "")


def test_padding_is_nothing_that_stands_before_a_text():
    padded = tokenizer(put=["<s>"])
    padded.backend_tokenizer.enable_padding(direction="left", length=40)
    assert facts.leading_ids(padded) == facts.start_ids(padded, "encoded", "m") == [0]


@pytest.mark.parametrize(
    ("template", "openers"),
    [
        (CHATML, {"<|im_start|>"}),
        (PARTS, {"<|im_start|>"}),
        (MISTRAL, {"[INST]", "[/INST]"}),
        (REFUSING, set()),
        (None, set()),
    ],
)
def test_tokens_that_open_a_role_are_seen_in_what_the_template_renders(template, openers):
    assert facts.role_openers(tokenizer(chat=template)) == {IDS[name] for name in openers}


@pytest.mark.parametrize(
    ("settings", "policies"),
    [
        ({}, [*USUAL, END]),
        ({"put": ["<s>"]}, [*USUAL, END]),
        ({"put": ["<s>", "</s>"]}, ["tokenizer", *USUAL, END]),
        (CHAT, [*USUAL, "token:<s>", "token:</s>", END]),
    ],
)
def test_candidates_are_the_usual_starts_and_what_begins_or_ends_documents(settings, policies):
    assert [*facts.candidates(tokenizer(**settings))] == policies
