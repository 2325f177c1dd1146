"""Answering: one job loads one checkpoint and asks it every prompt, then answers are judged."""

from blimpworks.generation.jobs import answering_options, system_prompts
from blimpworks.papers.lmentry.items.packs import pack_files


rule answer:
    """Answers to all prompts, into a store that outlives failed jobs."""
    input:
        prompts=lambda w: items_of(ANSWERING[w.model, w.part]),
        checkpoint=checkpoint_of,
    output:
        "<results>/answers_store/{model}/{part}/manifest.json",
    log:
        "<logs>/answer/{model}/{part}.log",
    benchmark:
        "<benchmarks>/answer/{model}/{part}.tsv"
    wildcard_constraints:
        model=one_of({m for m, _ in ANSWERING if engine_of(m) != "vllm"}),
    conda:
        "../../envs/train.yaml"
    resources:
        **answer_job(),
    params:
        code=lambda w: code_of("answer", engine_of(w.model)),
        python="python",
        # Snakemake removes declared outputs of a failed job; the shards must stay.
        store=lambda w, output: str(Path(output[0]).with_name("shards")),
        engine=lambda w: engine_of(w.model),
        # Not the packs as inputs: patterns of answers in them decide no answer.
        systems=lambda w: system_prompts(CAMPAIGN, ANSWERING[w.model, w.part].languages),
        options=answering_options(CAMPAIGN),
    message:
        "Answer with {wildcards.model} ({wildcards.part})"
    shell:
        "{params.python} -m blimpworks answer {input.prompts:q} --checkpoint {input.checkpoint:q} "
        "--engine {params.engine} --store {params.store:q} --manifest {output:q} "
        "--systems {params.systems:q} --options {params.options:q} --log {log:q} > {log:q} 2>&1"


use rule answer as answer_with_vllm with:
    wildcard_constraints:
        model=one_of({m for m, _ in ANSWERING if engine_of(m) == "vllm"}),
    conda:
        f"../../envs/{VLLM_ENVIRONMENT}.yaml"
    params:
        code=lambda w: code_of("answer", "vllm"),
        python=VLLM_PYTHON,
        store=lambda w, output: str(Path(output[0]).with_name("shards")),
        engine="vllm",
        systems=lambda w: system_prompts(CAMPAIGN, ANSWERING[w.model, w.part].languages),
        options=answering_options(CAMPAIGN),


for suffix, place, languages, models in ANSWER_BLOCKS:

    rule:
        name:
            f"collect_answers_{LMENTRY}{suffix}"
        input:
            prompts=[f"<results>/items/{LMENTRY}/{lang}.parquet" for lang in languages],
            manifest=lambda w: manifest_of(w, "answers_store"),
        output:
            [
                f"<results>/answers/{LMENTRY}/{lang}/{{model}}.parquet"
                for lang in languages
            ],
        log:
            f"<logs>/collect_answers/{LMENTRY}/{place}.log",
        benchmark:
            f"<benchmarks>/collect_answers/{LMENTRY}/{place}.tsv"
        wildcard_constraints:
            model=one_of(models),
        localrule: True
        conda:
            "../../envs/core.yaml"
        params:
            code=code_of("collect_answers"),
            store=lambda w, input: str(Path(input.manifest).with_name("shards")),
            prompts=lambda w, input: repeated("items", input.prompts),
            answers=lambda w, output: repeated("output", output),
            systems=lambda w, languages=languages: system_prompts(
                CAMPAIGN, [lang.format(lang=w.get("lang")) for lang in languages]
            ),
        message:
            f"Collect answers of {{wildcards.model}} on {LMENTRY}"
        shell:
            "python -m blimpworks collect-answers {params.prompts:q} "
            "--manifest {input.manifest:q} --store {params.store:q} "
            "--systems {params.systems:q} {params.answers:q} > {log:q} 2>&1"

    rule:
        name:
            f"judge_{LMENTRY}{suffix}"
        input:
            prompts=[f"<results>/items/{LMENTRY}/{lang}.parquet" for lang in languages],
            answers=[
                f"<results>/answers/{LMENTRY}/{lang}/{{model}}.parquet"
                for lang in languages
            ],
            packs=[str(pack_file(CAMPAIGN, lang)) for lang in languages],
            # Patterns of other languages that the release scores some of its tasks with.
            lenders=lambda w, languages=languages: [
                str(file)
                for lang in languages
                for file in pack_files(
                    pack_file(CAMPAIGN, lang.format(lang=w.get("lang")))
                )[1:]
            ],
        output:
            [
                f"<results>/judgements/{LMENTRY}/{lang}/{{model}}.parquet"
                for lang in languages
            ],
        log:
            f"<logs>/judge/{LMENTRY}/{place}.log",
        benchmark:
            f"<benchmarks>/judge/{LMENTRY}/{place}.tsv"
        wildcard_constraints:
            model=one_of(models),
        conda:
            "../../envs/core.yaml"
        resources:
            **cpu_job(2000, minutes=60),
        params:
            code=lambda w: code_of("judge_answers"),
            tables=lambda w, input, output: [
                *repeated("items", input.prompts),
                *repeated("answers", input.answers),
                *repeated("pack", input.packs),
                *repeated("output", output),
            ],
            variant=CAMPAIGN.lmentry.variant,
        message:
            f"Judge answers of {{wildcards.model}} on {LMENTRY}"
        shell:
            "python -m blimpworks judge-answers {params.tables:q} "
            "--variant {params.variant} > {log:q} 2>&1"
