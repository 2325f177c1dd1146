"""Item sets as a data set of the Hugging Face hub."""
