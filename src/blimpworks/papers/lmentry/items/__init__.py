"""Its items: how they are made."""
