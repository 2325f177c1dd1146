"""Settings of stages, each in a file of its own: a change reruns the jobs that read it.

Any rule with an input by settings_file (settings_files.smk) reads one.
"""


# A template and no shell, whose arguments have at most 128 kB.
rule write_settings:
    """Settings that a stage reads."""
    input:
        # By a path that stays the same where the checkout moves.
        os.path.relpath(PACKAGE / "commands/settings.j2"),
    output:
        "<results>/settings/{settings}",
    log:
        "<logs>/write_settings/{settings}.log",
    params:
        text=lambda w: settings_text(w.settings),
    message:
        "Write the settings {wildcards.settings}"
    template_engine:
        "jinja2"
