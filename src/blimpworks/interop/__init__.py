"""Exchange of files with other tools: lm-evaluation-harness, Hugging Face, Croissant, RO-Crate."""
