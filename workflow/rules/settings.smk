"""Settings of stages, each in a file of its own: a change reruns the jobs that read it."""


# A template and no shell, whose arguments have at most 128 kB.
rule write_settings:
    """Settings that a stage reads."""
    input:
        # By a path that stays the same where the checkout moves.
        os.path.relpath(REPOSITORY / "workflow/templates/settings.j2"),
    output:
        "<results>/settings/{settings}",
    log:
        "<logs>/write_settings/{settings}.log",
    localrule: True
    params:
        text=settings_text,
    message:
        "Write the settings {wildcards.settings}"
    template_engine:
        "jinja2"
