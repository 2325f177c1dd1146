"""Write the settings of each stage into a file, so that a change reruns the jobs of this stage.

Rules declare such a file as input by `settings_file` (settings_files.smk).
"""


# A template, because an argument in a shell command has at most 128 kB.
rule write_settings:
    """Write the settings of a stage."""
    input:
        # A relative path, which stays the same when the checkout is moved.
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
