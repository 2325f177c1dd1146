# Front door. `include` alone would leave plain `snakemake` without a default target.
from snakemake.utils import min_version

min_version("9.27")


include: "workflow/Snakefile"


workflow.default_target = "all"
