"""Export of a results tree as a Workflow Run RO-Crate that can be read and recomputed by itself."""
