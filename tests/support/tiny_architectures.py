"""Make tiny random models of every architecture of transformers, in Hugging Face's layout."""

import contextlib
import re
from functools import cache
from typing import NamedTuple

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import CONFIG_MAPPING, PreTrainedConfig, PreTrainedTokenizerFast
from transformers.models.auto import modeling_auto

from support import tiny

MAPPINGS = {
    "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    "masked": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    "encoder-decoder": modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    "multimodal": modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
}
VOCABULARY = 400
"""Number of the tokenizer's tokens; 32 more ids stand for pictures and similar inputs."""
SYMBOLS = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
BOTH = re.findall(
    r"\S+",
    "bert bert-generation big_bird camembert data2vec-text electra ernie megatron-bert reformer "
    "rembert roberta roberta-prelayernorm roc_bert roformer xlm-roberta xlm-roberta-xl xmod",
)
"""Model types that attend to both sides unless they are configured as decoders."""
SENTINELS = {"t5", "mt5", "umt5", "longt5", "switch_transformers", "udop"}
"""Model types whose tokenizers have sentinels for masked spans."""
PAIRS = [
    ("The dogs that the nurse sees hear the bird.", "The dogs that the nurse sees hears the bird."),
    ("The dogs that the nurse sees find it.", "The dogs that the nurse see find it."),
    ("The dogs see.", "The dog see."),
    ("A cat", "A"),
    (
        "Teachers who like the dogs that the nurse finds call the bird that the cat hears.",
        "Teachers who like the dogs that the nurse finds calls the bird that the cat hears.",
    ),
    ("Teachers who like the bird sing.", "Teachers who likes the bird sing."),
]
TEXTS = [text for pair in PAIRS for text in pair]

SIZES = {
    64: r"hidden_size|d_model|n_embd|embed_dim|dim|emb_dim|embedding_(size|dim)|lru_width|"
    r"(word_embed_proj|output|projection|resampler|true)_(dim|hidden_size)|true_hidden_size|"
    r"(text|out|vision|audio|encoder|decoder|projector|projection|adapter|attention|pooler|"
    r"cross|image_text|backbone|router)_hidden_size|(in|out)put_embedding_size|d_inner_size|"
    r"hidden_size_(global|per_layer_input)|entity_emb_size|vision_output_dim|ple_embed_dim|"
    r"projector_(in|out)put_dim|attention_hidden_size|merged_hidden_size|prediction_head_size|"
    r"adapter_(out|in)_dim|(pronunciation|shape)_embed_dim|"
    r"unit_embed_dim|lang_embed_dim|spkr_embed_dim|d_latents|downsample_hidden_size",
    96: r".*intermediate_size(_mlp)?|((encoder|decoder|t2u_encoder|t2u_decoder)_)?ffn_dim|d_ff|"
    r"dff|dim_ff|d_inner|n_inner|mlp_dim|hidden_dim|(expert_)?ffn_hidden_size|feed_forward_size|"
    r"moe_hidden_size|share_expert_dim",
    4: r"(num_)?(attention_)?heads|n_heads?|num_(encoder|decoder|cross|self|swa|sliding)?_?"
    r"(attention_|attn_)?heads|((t2u_)?(encoder|decoder)|speech_encoder)_attention_heads|"
    r"index_n_heads|(moe_)?num_experts|n_routed_experts|num_local_experts|moe_num_experts|"
    r"swa_num_attention_heads|linear_num(_value)?_heads|num_blocks|num_latents|resampler_n_heads|"
    r"conf_num_attention_heads|zero_expert_num|cross_num_attention_heads|num_filters",
    16: r"(swa_|attention_|linear_|v_|index_)?head_dim|d_kv|d_head|attention_head_(dim|size)|"
    r"dim_head|kv_channels|linear_(key|value)_head_dim|qk_head_dim|(kv|q|o)_lora_rank|"
    r"mamba_d_state|ssm_state_size|state_size|d_rel|resampler_head_dim|laurel_rank|"
    r"(attention_)?chunk_size|mamba_chunk_size|adapter_rank|embedding_rank|gated_norm_rank|"
    r"hc_lowrank|query_pre_attn_scalar|resampler_n_latents|num_query_tokens|latent_query_num|"
    r"intra_bottleneck_size|time_step_rank|mamba_dt_rank|rel_extent|block_multiple_of",
    8: r"sliding_window(_size)?|window_size|attention_window(_size)?|local_attention|"
    r"(local|lsh)_attn_chunk_length|attention_chunk_size|qk_(rope|nope)_head_dim|index_topk|"
    r"local_radius|block_size|global_block_size|keep_window_size|local_attention_window_len|"
    r"rotary_dim|linear_num_value_heads|mamba_n(um)?_heads|n_mamba_heads|mamba_headdim|"
    r"floor_scale",
    2: r"num_experts_per_tok(en)?|moe_(k|topk)|linear_num_key_heads|num_attention_heads_per_layer|"
    r"depth|num_self_attends_per_block|aligner_num_add_layers|num_shared_experts",
    1: r"n_group|num_expert_group|topk_group|n_groups|mamba_n_groups|num_nextn_predict_layers|"
    r"first_k_dense_replace|max_window_layers|num_dense_layers|num_kv_shared_layers",
    256: r"max_position_embeddings|n_positions|n_ctx|max_seq_len|context_length|"
    r"max_(encoder|decoder)_position_embeddings|model_max_length|max_target_positions|"
    r"t2u_max_position_embeddings|original_max_position_embeddings|position_embedding_size",
}
"""Sizes of tiny models, with patterns of the configurations' fields."""
LAYERS = re.compile(
    r"num_(hidden_|encoder_|decoder_)?layers|n_layers?|((t2u_)?(encoder|decoder)|speech_encoder)"
    r"_layers|num_blocks|layers|conf_num_hidden_layers|.*num_hidden_layers|num_layers_per_stack"
)
VOCABULARIES = re.compile("vocab_size(_per_layer_input)?$")
KEYS = re.compile(r"(swa_)?num_(key_value|kv)_heads|num_key_value_groups")
SPREADS = re.compile(r"initializer_range|init_std|init_range|embed_init_std")
NEEDED = {"head_dim": 16, "vocab_size": VOCABULARY + 32, "n_routed_experts": 4}
NEEDED |= {"sliding_window": 8, "n_shared_experts": 1, "num_experts_per_tok": 2}
NEEDED |= {"n_group": 1, "topk_group": 1}
"""Fields that some configurations leave open although their models need them."""
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "unk_token_id": 3}
TOKENS |= {"mask_token_id": 4, "cls_token_id": 1, "sep_token_id": 2, "mask_index": 4}
TOKENS |= {"pad_index": 0, "bos_index": 1, "eos_index": 2, "unk_index": 3}
KINDS = ("layer_types", "mlp_layer_types", "layers_block_type", "attention_layers", "block_types")
ROPE = {"rope_type": "default", "rope_theta": 1e4}
MROPE = {"rope_parameters": ROPE | {"mrope_section": [4, 2, 2]}}
TWO_KINDS = ("sliding_attention", "full_attention")
INDEXER = {"indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 16}
INDEXER |= {"indexer_budget": 8, "indexer_compress_ratio": 4}
THREE_LAYERS = ["linear_attention", "linear_attention", "hybrid"]
OF_PICTURES = (
    *("cosmos3_edge_text", "glm4v_text", "glm_ocr_text", "paddleocr_vl_text"),
    *("qwen2_5_omni_text", "qwen2_5_vl_text", "qwen2_vl_text"),
)
SPECIAL = dict.fromkeys(OF_PICTURES, MROPE) | {
    "bamba": {"attn_layer_indices": [1]},
    "blt": {"encoder_hash_byte_group_vocab": 432},
    "chameleon": {"vocabulary_map": {"<image>": 431}},
    "cohere_compass_text": {"num_hidden_layers": 2, "layer_types": [*TWO_KINDS]}
    | {"rope_parameters": dict.fromkeys(TWO_KINDS, ROPE)},
    "dbrx": {"attn_config": {"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 1e4}},
    "deepseek_ocr2_text": {"num_hidden_layers": 2, "mlp_layer_types": ["dense", "sparse"]},
    "diffusion_gemma_text": {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 64},
    "dots3_note_text": {"num_attention_heads": 4, "num_key_value_heads": 4},
    "emu3": {"vocabulary_map": {"<image>": 431}},
    "ernie4_5_vl_moe_text": {"rope_parameters": ROPE | {"mrope_section": [3, 3, 2]}},
    "emu3_vqgan": {"base_channels": 32},
    "florence_vision": {"embed_dim": [64, 64, 64, 64], "depths": [1, 1, 1, 1]},
    "glm5_next_text": {"index_kpool": 4},
    "glm4v_moe_text": {"rope_parameters": ROPE | {"mrope_section": [2, 1, 1]}},
    "gpt_neo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]]},
    "granite4_vision": {"deepstack_layer_map": [], "downsample_rate": "4/8"},
    "hunyuan_vl_text": {"head_dim": 16, "rope_parameters": ROPE | {"mrope_section": [2, 2, 2, 2]}},
    "lfm2_moe": {"num_hidden_layers": 2, "layer_types": ["conv", "full_attention"]},
    "longcat_flash": {"head_dim": 8},
    "mamba2": {"hidden_size": 64, "num_heads": 8, "head_dim": 16},
    "molmo2_adapter": {"vision_feature_layer": [-1, -2]},
    "nemotron": {"num_key_value_heads": 2},
    "qwen4_exp_text": INDEXER | {"head_dim": 16},
    "reformer": {"axial_pos_embds": False, "attn_layers": ["local", "lsh"], "num_hidden_layers": 2},
    "xmod": {"default_language": "en_XX"},
    "zamba": {"num_hidden_layers": 8, "attention_head_dim": 32, "attention_hidden_size": 128},
    "zamba2": {"num_hidden_layers": 6, "layers_block_type": 2 * THREE_LAYERS},
}
"""Fields by model type that follow no rule."""


class Entry(NamedTuple):
    """One architecture: its mapping in transformers, its model type and class."""

    mapping: str
    model_type: str
    name: str
    variant: str = ""

    @property
    def architecture(self):
        """Architecture that a user would name if the class does not imply it."""
        return None if self.mapping == "multimodal" else self.mapping

    @property
    def title(self):
        return f"{self.name}{self.variant and f' ({self.variant})'}"


def entries(only=()):
    """Yield every class of the mappings, or those of ``only``, also as decoders."""
    seen = set()
    for mapping, names in MAPPINGS.items():
        for model_type, name in sorted(names.items(), key=lambda pair: (pair[1], len(pair[0]))):
            twice = mapping == "masked" and name.endswith("ForConditionalGeneration")
            if twice or (name, mapping == "masked") in seen:
                continue
            seen.add((name, mapping == "masked"))
            if not only or {model_type, name} & set(only):
                yield Entry(mapping, model_type, name)
                if mapping == "causal" and model_type in BOTH:
                    yield Entry(mapping, model_type, name, "is_decoder")


def small_fields(config, spread, layers, counter):
    """Return the fields of a tiny configuration.

    ``spread`` is the standard deviation of weights, ``layers`` the most layers of a stack.
    ``counter`` holds the number of ids so far that stand for pictures and similar inputs.
    """
    chosen, ordinary = {}, type(config)()
    heads = value_of(config, "num_attention_heads")
    for name in type(config).__dataclass_fields__:
        value = value_of(config, name)
        if isinstance(value, PreTrainedConfig):
            small = small_fields(value, spread, layers, counter)
            chosen[name] = {"model_type": value.model_type} | small
        elif name in TOKENS:
            chosen[name] = TOKENS[name]
        elif name == "use_sliding_window":
            chosen[name] = True
        elif value is None and name in NEEDED:
            chosen[name] = NEEDED[name]
        elif type(value) is int and re.search(r"_token_(id|index)$", name) and value >= VOCABULARY:
            counter[0] += 1
            chosen[name] = VOCABULARY + counter[0] % 32
        elif isinstance(value, float) and SPREADS.fullmatch(name):
            chosen[name] = spread
        elif type(value) is int and LAYERS.fullmatch(name):
            chosen[name] = min(value, layers)
        elif type(value) is int and KEYS.fullmatch(name):
            chosen[name] = 4 if value == heads else min(value, 2)
        elif type(value) is int and VOCABULARIES.search(name):
            chosen[name] = VOCABULARY + 32
        elif type(value) is int and (
            size := next((size for size, names in SIZES.items() if re.fullmatch(names, name)), 0)
        ):
            chosen[name] = min(value, size)
        elif isinstance(value, int | float | str) and value != value_of(ordinary, name):
            chosen[name] = value
    return chosen | SPECIAL.get(config.model_type, {})


def value_of(config, name):
    """Return a configuration's field; None if it has none, or one that differs by layer."""
    with contextlib.suppress(Exception):
        return getattr(config, name)
    return None


def kinds_of(config):
    """Return the kinds of layers of a configuration and of those inside it."""
    kinds = set()
    for value in vars(config).values():
        if isinstance(value, PreTrainedConfig):
            kinds |= kinds_of(value)
    for name in KINDS:
        value = getattr(config, name, None)
        if isinstance(value, list | tuple):
            kinds |= {(name, layer) for layer in value if isinstance(layer, str)}
    return kinds


def tiny_config(entry, spread):
    """Return a tiny configuration with as few layers as have every kind."""
    # A causal class of a model that sees pictures may take the configuration of the text alone.
    config_class = getattr(transformers, entry.name).config_class
    config_class = config_class or CONFIG_MAPPING[entry.model_type]
    whole = config_class(**SPECIAL.get(config_class.model_type, {}))
    wanted, failure = kinds_of(whole), None
    for layers in (2, 3, 4, 6, 8, 12):
        try:
            config = config_class(**small_fields(whole, spread, layers, [0]))
        except Exception as error:
            failure = error
            continue
        if kinds_of(config) >= wanted:
            break
    else:
        raise failure or ValueError(f"layers of {sorted(wanted)} need more than 12")
    config.architectures = [entry.name]
    if config.is_encoder_decoder and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = 0 if entry.model_type in SENTINELS else 2
    if entry.variant == "is_decoder":
        config.is_decoder = True
    return config


@cache
def train_tokenizer(form):
    """Train a tokenizer: ``causal``, ``framed`` by two symbols, or with a ``sentinel``."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    symbols = [*SYMBOLS, "<extra_id_0>"] if form == "sentinel" else SYMBOLS
    sizes = {"vocab_size": VOCABULARY, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    trainer = trainers.BpeTrainer(special_tokens=symbols, show_progress=False, **sizes)
    tokenizer.train_from_iterator(TEXTS + tiny.sentences(300), trainer)
    frame = {"causal": "<s> $A", "framed": "<s> $A </s>", "sentinel": "$A </s>"}[form]
    ids = [(symbol, tokenizer.token_to_id(symbol)) for symbol in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single=frame, special_tokens=ids)
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    if form == "framed":
        names |= {"mask_token": "<mask>", "cls_token": "<s>", "sep_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=250, **names)


def form_of(entry, config):
    if entry.model_type in SENTINELS:
        return "sentinel"
    return "framed" if entry.mapping == "masked" or config.is_encoder_decoder else "causal"


@torch.no_grad()
def build(entry, spread, directory):
    """Write a tiny random model, with noise added to all weights; return its configuration."""
    torch.manual_seed(1)
    config = tiny_config(entry, spread)
    model = getattr(transformers, entry.name)(config).eval()
    millions = sum(parameter.numel() for parameter in model.parameters()) / 1e6
    if millions > 80:
        raise ValueError(f"{millions:.0f} million parameters are too many for a tiny model")
    for parameter in model.parameters():
        if parameter.is_floating_point():
            size = spread if parameter.dim() > 1 else min(spread, 0.1)
            parameter.add_(torch.randn_like(parameter) * size)
    model.save_pretrained(directory)
    train_tokenizer(form_of(entry, config)).save_pretrained(directory)
    return model.config
