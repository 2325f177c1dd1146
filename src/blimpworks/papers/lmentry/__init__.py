"""Multi-LMentry: elementary tasks in nine languages."""
