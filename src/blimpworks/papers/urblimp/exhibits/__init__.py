"""Tables and figures of UrBLiMP."""
