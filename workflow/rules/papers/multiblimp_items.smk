"""Build MultiBLiMP's items from the release or from treebanks."""

from blimpworks.papers.multiblimp.paper import (
    is_released,
    pinned_arguments,
    released_file,
    stage_settings,
)


rule build_lexicon:
    """Build the lexicon of one language from UniMorph and the words of its treebanks."""
    input:
        tokens="<results>/tokens/{lang}.parquet",
        unimorph=unimorph_tables,
        settings=settings_file(
            "multiblimp_lexicon.yaml", stage_settings(CAMPAIGN, "lexicon")
        ),
    output:
        "<results>/lexicon/{lang}.parquet",
    log:
        "<logs>/build_lexicon/{lang}.log",
    benchmark:
        "<benchmarks>/build_lexicon/{lang}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        **cpu_job(2000),
    params:
        code=code_of("build_lexicon"),
        special=special_spelling,
    message:
        "Build the lexicon of {wildcards.lang}"
    shell:
        "python -m blimpworks build-lexicon {input.unimorph:q} --tokens {input.tokens:q} "
        "--output {output:q} --lang {wildcards.lang} --special={params.special:q} "
        "--options {input.settings:q} > {log:q} 2>&1"


if is_released(CAMPAIGN):

    rule build_released_items:
        """Read a language's released pairs, and check each row."""
        input:
            released=lambda w: released_file(CAMPAIGN, CATALOGUE, w.lang),
            settings=settings_file(
                "multiblimp_released.yaml", stage_settings(CAMPAIGN, "released")
            ),
        output:
            "<results>/items/multiblimp/{lang}.parquet",
        log:
            "<logs>/build_items/multiblimp/{lang}.log",
        benchmark:
            "<benchmarks>/build_items/multiblimp/{lang}.tsv"
        conda:
            "../../../envs/core.yaml"
        resources:
            **cpu_job(2000),
        params:
            code=code_of("build_released_items"),
            pinned=lambda w: pinned_arguments(CAMPAIGN, CATALOGUE, w.lang),
        message:
            "Read the released items of {wildcards.lang}"
        shell:
            "python -m blimpworks build-released-items {input.released:q} --output {output:q} "
            "--lang {wildcards.lang} --options {input.settings:q} {params.pinned:q} > {log:q} 2>&1"

else:

    # One job for four commands, because each takes less time than the start of a job.
    rule build_multiblimp_items:
        """Build the items of a language: find candidates, test agreement, make pairs, sample."""
        input:
            tokens="<results>/tokens/{lang}.parquet",
            sentences="<results>/sentences/{lang}.parquet",
            lexicon="<results>/lexicon/{lang}.parquet",
            treebanks_settings=settings_file(
                "treebanks_read.yaml",
                CAMPAIGN.treebanks.model_dump(include={"max_words"}),
            ),
            candidates_settings=settings_file(
                "multiblimp_candidates.yaml", stage_settings(CAMPAIGN, "candidates")
            ),
            agreement_settings=settings_file(
                "multiblimp_agreement.yaml", stage_settings(CAMPAIGN, "agreement")
            ),
            pairs_settings=settings_file(
                "multiblimp_pairs.yaml", stage_settings(CAMPAIGN, "pairs")
            ),
            sampling_settings=settings_file(
                "multiblimp_sampling.yaml", stage_settings(CAMPAIGN, "sampling")
            ),
        output:
            candidates="<results>/candidates/multiblimp/{lang}.parquet",
            candidates_funnel="<results>/funnel/multiblimp/candidates/{lang}.parquet",
            agreement="<results>/agreement/multiblimp/{lang}.parquet",
            counts="<results>/agreement_counts/multiblimp/{lang}.parquet",
            pairs="<results>/items/multiblimp/all/{lang}.parquet",
            pairs_funnel="<results>/funnel/multiblimp/pairs/{lang}.parquet",
            sample="<results>/items/multiblimp/{lang}.parquet",
            sample_funnel="<results>/funnel/multiblimp/sampling/{lang}.parquet",
        log:
            "<logs>/build_items/multiblimp/{lang}.log",
        benchmark:
            "<benchmarks>/build_items/multiblimp/{lang}.tsv"
        conda:
            "../../../envs/core.yaml"
        resources:
            **cpu_job(2000),
        params:
            code=[
                code_of("find_candidates"),
                code_of("measure_agreement"),
                code_of("build_pairs"),
                code_of("sample_items"),
            ],
            special=special_spelling,
            untested=lambda w: ",".join(CATALOGUE.languages[w.lang].untested),
        message:
            "Build the items of {wildcards.lang}"
        shell:
            "python -m blimpworks find-candidates --lang {wildcards.lang} "
            "--tokens {input.tokens:q} --output {output.candidates:q} "
            "--funnel {output.candidates_funnel:q} --special={params.special:q} "
            "--options {input.candidates_settings:q} --treebanks {input.treebanks_settings:q} > {log:q} 2>&1 && "
            "python -m blimpworks measure-agreement --lang {wildcards.lang} "
            "--candidates {output.candidates:q} --lexicon {input.lexicon:q} "
            "--output {output.agreement:q} --counts {output.counts:q} "
            "--options {input.agreement_settings:q} >> {log:q} 2>&1 && "
            "python -m blimpworks build-pairs --lang {wildcards.lang} "
            "--candidates {output.candidates:q} --lexicon {input.lexicon:q} "
            "--agreement {output.agreement:q} --tokens {input.tokens:q} "
            "--sentences {input.sentences:q} --output {output.pairs:q} "
            "--funnel {output.pairs_funnel:q} --special={params.special:q} "
            "--options {input.pairs_settings:q} >> {log:q} 2>&1 && "
            "python -m blimpworks sample-items --lang {wildcards.lang} --pairs {output.pairs:q} "
            "--output {output.sample:q} --funnel {output.sample_funnel:q} "
            "--untested={params.untested:q} --options {input.sampling_settings:q} >> {log:q} 2>&1"
