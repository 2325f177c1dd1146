"""Let models answer prompts: engines, a store of answers, and their reasoning."""
