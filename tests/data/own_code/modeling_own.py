"""A causal model and a masked one, which compute what Llama and BERT do with the same weights.

They are written for transformers 4: a table that is in no file, no ``post_init``.
"""

from torch import arange, nn, zeros
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput, CausalLMOutput, MaskedLMOutput

from .configuration_own import OwnConfig
from .parts.attention import attend


class OwnModel(PreTrainedModel):
    config_class = OwnConfig


class CausalLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.heads = config.num_attention_heads
        names = ("q_proj", "k_proj", "v_proj", "o_proj")
        self.self_attn = nn.ModuleDict({n: nn.Linear(width, width, bias=False) for n in names})
        sizes = {"gate_proj": (width, inner), "up_proj": (width, inner)}
        sizes["down_proj"] = (inner, width)
        self.mlp = nn.ModuleDict({n: nn.Linear(*s, bias=False) for n, s in sizes.items()})
        self.input_layernorm = nn.RMSNorm(width, config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(width, config.rms_norm_eps)

    def forward(self, hidden, rates):
        normal, part = self.input_layernorm(hidden), self.self_attn
        states = (part[name](normal) for name in ("q_proj", "k_proj", "v_proj"))
        hidden = hidden + part["o_proj"](attend(*states, self.heads, rates=rates))
        normal, part = self.post_attention_layernorm(hidden), self.mlp
        gate = functional.silu(part["gate_proj"](normal))
        return hidden + part["down_proj"](gate * part["up_proj"](normal))


class CausalStack(OwnModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        layers = (CausalLayer(config) for _ in range(config.num_hidden_layers))
        self.layers = nn.ModuleList(layers)
        self.norm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps)
        size = config.hidden_size // config.num_attention_heads
        self.register_buffer("rates", 1e4 ** (-arange(0, size, 2) / size), persistent=False)

    def forward(self, input_ids=None, inputs_embeds=None, **_):
        hidden = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        for layer in self.layers:
            hidden = layer(hidden, self.rates)
        return BaseModelOutput(last_hidden_state=self.norm(hidden))


class OwnForCausalLM(OwnModel):
    base_model_prefix = "model"

    def __init__(self, config):
        super().__init__(config)
        self.model = CausalStack(config)

    def forward(self, input_ids=None, inputs_embeds=None, **_):
        hidden = self.model(input_ids, inputs_embeds).last_hidden_state
        return CausalLMOutput(logits=functional.linear(hidden, self.model.embed_tokens.weight))


class MaskedLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.heads = config.num_attention_heads
        states = {name: nn.Linear(width, width) for name in ("query", "key", "value")}

        def closing(size):
            return nn.ModuleDict(
                {"dense": nn.Linear(size, width), "LayerNorm": nn.LayerNorm(width, 1e-12)}
            )

        self.attention = nn.ModuleDict({"self": nn.ModuleDict(states), "output": closing(width)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = closing(inner)

    def forward(self, hidden, mask):
        states = (part(hidden) for part in self.attention["self"].values())
        closing = self.attention["output"]
        hidden = closing["LayerNorm"](hidden + closing["dense"](attend(*states, self.heads, mask)))
        inner = functional.gelu(self.intermediate["dense"](hidden))
        return self.output["LayerNorm"](hidden + self.output["dense"](inner))


class OwnForMaskedLM(OwnModel):
    def __init__(self, config):
        super().__init__(config)
        width = config.hidden_size
        sizes = {"word": config.vocab_size, "position": config.max_position_embeddings}
        embeddings = {
            f"{name}_embeddings": nn.Embedding(size, width)
            for name, size in (sizes | {"token_type": 2}).items()
        }
        embeddings["LayerNorm"] = nn.LayerNorm(width, 1e-12)
        layers = nn.ModuleList(MaskedLayer(config) for _ in range(config.num_hidden_layers))
        self.bert = nn.ModuleDict(
            {
                "embeddings": nn.ModuleDict(embeddings),
                "encoder": nn.ModuleDict({"layer": layers}),
            }
        )
        transform = {"dense": nn.Linear(width, width), "LayerNorm": nn.LayerNorm(width, 1e-12)}
        self.cls = nn.ModuleDict({"predictions": nn.Module()})
        self.cls["predictions"].transform = nn.ModuleDict(transform)
        self.cls["predictions"].bias = nn.Parameter(zeros(config.vocab_size))

    def forward(self, input_ids, attention_mask=None, **_):
        parts = self.bert["embeddings"]
        hidden = parts["word_embeddings"](input_ids) + parts["token_type_embeddings"].weight[0]
        hidden = parts["LayerNorm"](
            hidden + parts["position_embeddings"].weight[: input_ids.shape[1]]
        )
        mask = None if attention_mask is None else attention_mask[:, None, None].bool()
        for layer in self.bert["encoder"]["layer"]:
            hidden = layer(hidden, mask)
        head = self.cls["predictions"]
        hidden = head.transform["LayerNorm"](functional.gelu(head.transform["dense"](hidden)))
        weight = parts["word_embeddings"].weight
        return MaskedLMOutput(logits=functional.linear(hidden, weight, head.bias))
