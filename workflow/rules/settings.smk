"""Settings of stages, each in a file of its own: a change reruns the jobs that read it."""

import yaml

# File name and content; papers add those of their stages.
SETTINGS = {}


def settings_file(name, content):
    """Declare a file of settings, and return its path; a function is called when it is needed."""
    SETTINGS[name] = content
    return f"{RESULTS}/settings/{name}"


def settings_text(wildcards):
    """Text of a file of settings."""
    content = SETTINGS[wildcards.settings]
    content = content() if callable(content) else content
    if wildcards.settings.endswith(".json"):
        return json.dumps(content, ensure_ascii=False, indent=1)
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


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
