"""Items of CLAMS, from released evaluation sets or from grammars."""
