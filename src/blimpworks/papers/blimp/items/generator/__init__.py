"""The generator of BLiMP's pairs: declared paradigms over a small builder of constituents."""
