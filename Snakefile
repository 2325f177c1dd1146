include: "workflow/Snakefile"


# Snakemake ignores the default target of an included file (its issue 2056).
workflow.default_target = "all"
