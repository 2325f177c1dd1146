"""A results tree as a Workflow Run RO-Crate that can be read and recomputed on its own."""
