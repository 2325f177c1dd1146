"""Byte-level BPE tokenizers, trained here and saved in Hugging Face's layout."""

import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from blimpworks.files import atomic, write_text

BOS, EOS = "<s>", "</s>"
BOS_ID, EOS_ID = 0, 1


def train_tokenizer(sentences: list[str], vocabulary: int) -> Tokenizer:
    """Train a byte-level BPE tokenizer of at most ``vocabulary`` tokens on ``sentences``.

    All 256 bytes are tokens, so nothing is unknown. ``<s>`` is id 0 and ``</s>`` id 1;
    encoding adds neither, because the scoring engine puts the first token itself.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BOS, EOS],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences, trainer)
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, directory: Path, context: int) -> None:
    """Write ``tokenizer.json`` and ``tokenizer_config.json`` into ``directory``.

    The class is the generic PreTrainedTokenizerFast, which every version of transformers
    can load.
    """
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "eos_token": EOS,
        "model_max_length": context,
        "clean_up_tokenization_spaces": False,
    }
    with atomic(directory / "tokenizer.json") as temporary:
        tokenizer.save(str(temporary), pretty=False)
    write_text(directory / "tokenizer_config.json", json.dumps(settings, indent=1) + "\n")
