"""Campaigns: settings, catalogues, papers, and the parts that jobs work on."""
