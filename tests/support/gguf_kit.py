"""Write tiny models as GGUF files, and packages that contain them."""

import json
import zipfile

import gguf
import numpy as np
from safetensors.numpy import load_file

MEMBER = "tiny_model/tiny.gguf"


def write_gguf(
    folder, path, quantise="F32", architecture="llama", pre="gpt-2", extra=(), lack="",
    algorithm="gpt2", **more
):  # fmt: skip
    """Write a small Llama in Hugging Face's layout as llama.cpp's converter would."""
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(path, architecture)
    heads, layers = config["num_attention_heads"], config["num_hidden_layers"]
    writer.add_name("tiny")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(layers)
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(getattr(gguf.LlamaFileType, f"MOSTLY_{quantise}", 0))
    for name, setting in more.items():
        getattr(writer, f"add_{name}")(setting)
    _add_tokenizer(writer, folder, pre, algorithm)
    writer.add_chat_template("{{ messages[0]['content'] }}")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, layers)
    for name, weights in load_file(folder / "model.safetensors").items():
        tensor, stored = weights, names.get_name(name, try_suffixes=(".weight",))
        if "attn_q" in stored or "attn_k" in stored:
            halves = tensor.reshape(heads, 2, -1, tensor.shape[1])
            tensor = np.ascontiguousarray(halves.swapaxes(1, 2).reshape(tensor.shape))
        kind = gguf.GGMLQuantizationType["F32" if tensor.ndim == 1 else quantise]
        if stored != lack:
            writer.add_tensor(stored, gguf.quantize(tensor, kind), raw_dtype=kind)
    for name in extra:
        writer.add_tensor(name, np.ones(8, dtype=np.float32))
    return _written(writer, path)


def _add_tokenizer(writer, folder, pre, algorithm="gpt2"):
    pieces = json.loads((folder / "tokenizer.json").read_text())["model"]
    writer.add_tokenizer_model(algorithm)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(sorted(pieces["vocab"], key=pieces["vocab"].get))
    writer.add_token_types([3, 3] + [1] * (len(pieces["vocab"]) - 2))
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in pieces["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)


def _written(writer, path):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_gpt2_gguf(model, folder, path):
    """Write a GPT-2 as llama.cpp's converter would, with the tokenizer in a folder."""
    config, writer = model.config, gguf.GGUFWriter(path, "gpt2")
    writer.add_block_count(config.n_layer)
    writer.add_context_length(config.n_positions)
    writer.add_embedding_length(config.n_embd)
    writer.add_feed_forward_length(4 * config.n_embd)
    writer.add_head_count(config.n_head)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_vocab_size(config.vocab_size)
    _add_tokenizer(writer, folder, "gpt-2")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GPT2, config.n_layer)
    for name, weights in model.named_parameters():
        stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
        numbers = weights.detach().numpy()
        is_transposed = name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight"))
        writer.add_tensor(stored, np.ascontiguousarray(numbers.T) if is_transposed else numbers)
    return _written(writer, path)


def write_wheel(folder, name, content, member=MEMBER):
    """Write a wheel with one file, which pip takes for a package of that name."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-1.0.dist-info"
    files = {
        member: content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
