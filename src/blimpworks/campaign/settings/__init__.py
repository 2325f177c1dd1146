"""The settings of a campaign, as typed models."""
