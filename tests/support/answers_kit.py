from transformers import AutoTokenizer

from blimpworks.campaign.settings.scoring import GenerationJobOptions, VllmOptions
from blimpworks.models.checkpoint import read_description, seal
from blimpworks.tables import PROMPTS, write_rows
from support import tiny

# vLLM's attention on CPUs takes heads of a width of 32 or more.
RECIPE = tiny.RECIPE.model_copy(update={"hidden": 64, "context": 128})
VLLM = VllmOptions(kv_cache_mib=128, start_timeout=300, answer_timeout=120)
OPTIONS = GenerationJobOptions(max_tokens=12, batch=4, shard=5, vllm=VLLM)
SYSTEM = "the dog is a nurse"
LOOP = "{% for m in messages %}{{ '[' + m.role + '] ' + m.content + '\n' }}{% endfor %}"
TEMPLATES = {
    "system": LOOP + "{% if add_generation_prompt %}[assistant]{% endif %}",
    "refuses": "{% if messages[0].role == 'system' %}{{ raise_exception('System role not "
    "supported') }}{% endif %}" + LOOP + "[assistant]",
    "drops": "{% for m in messages if m.role == 'user' %}{{ m.content }}\n{% endfor %}",
    "parts": "{% for m in messages %}[{{ m.role }}]{% for part in m.content %}"
    "{% if part.type == 'text' %}{{ part.text | trim }}{% endif %}{% endfor %}{% endfor %}[a]",
    "first part": "{{ messages[-1]['content'][0]['text'] + '[a]' }}",
    "refuses all": "{{ raise_exception('no') }}",
    "silent": "{% for m in messages %}[{{ m.role }}]{% endfor %}[a]",
    "shouts": "{% for m in messages %}{{ m.content | upper }}{% endfor %}",
    "lists": "{% for part in messages[0].content %}[{{ part }}]{% endfor %}",
    "cuts": "{% for m in messages %}[{{ m.role }}]{{ m.content[:20] }}{% endfor %}[a]",
    "cuts system": "{% for m in messages %}[{{ m.role }}]"
    "{{ m.content[:15] if m.role == 'system' else m.content }}{% endfor %}[a]",
    "reasons": LOOP + "{% if add_generation_prompt %}[assistant]<think>\n{% endif %}",
    "reasoned": LOOP + "[assistant]<think>\n\n</think>\n\n",
    "dated": "{% if not date_string is defined %}{% set date_string = strftime_now('%d %b %Y') %}"
    "{% endif %}[today {{ date_string }}]" + LOOP + "[assistant]",
}
QUESTIONS = [f"which {noun} {verb} the dog?" for noun in tiny.NOUNS[:5] for verb in tiny.VERBS[:3]]


def make_model(directory, template=None):
    """Train a transformer and return its checkpoint, with a chat template if one is named."""
    corpus = tiny.write_corpus(directory / "text.txt")
    checkpoint = directory / "model" / "checkpoint.json"
    tiny.make_transformer(corpus, checkpoint, recipe=RECIPE)
    return with_template(checkpoint, template) if template else checkpoint


def with_template(checkpoint, template):
    """Add a chat template to a model, seal it again and return its checkpoint."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint.parent, local_files_only=True)
    tokenizer.chat_template = TEMPLATES[template]
    tokenizer.save_pretrained(checkpoint.parent)
    described = read_description(checkpoint)
    seal(checkpoint, described)
    return checkpoint


def write_prompts(path, prompts):
    """Write a table of prompts, whose language is the file's name; return its path."""
    same = {"lang": path.stem, "phenomenon": "first_word", "paradigm": "template=1", "template": 1}
    same |= {"nominal": len(prompts), "answer": "dog", "arguments": "{}"}
    rows = [
        {"item_id": f"{path.stem}-{i}", "number": i + 1, "prompt": prompt, **same}
        for i, prompt in enumerate(prompts)
    ]
    write_rows(rows, PROMPTS, path)
    return path
