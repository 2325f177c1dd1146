"""How CLAMS's items are built, from released evaluation sets or by grammars."""
