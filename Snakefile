include: "workflow/Snakefile"


# A file that is included sets no default target (Snakemake's issue 2056).
workflow.default_target = "all"
