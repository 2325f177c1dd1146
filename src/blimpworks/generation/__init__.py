"""Models answer prompts: engines, a store of answers, and the reasoning in them."""
