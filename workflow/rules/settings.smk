"""Settings of stages, each in a file of its own: a change reruns the jobs that read it."""


rule write_settings:
    """Settings that a stage reads."""
    output:
        "<results>/settings/{settings}",
    log:
        "<logs>/write_settings/{settings}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        text=settings_text,
    message:
        "Write the settings {wildcards.settings}"
    shell:
        "printf '%s\\n' {params.text:q} > {output:q} 2> {log:q}"
