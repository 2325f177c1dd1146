"""Campaigns: what they name, the catalogues they choose from, and the parts they fall into."""
