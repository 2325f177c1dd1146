"""A results tree as a Workflow Run RO-Crate that is readable and recomputable on its own."""
