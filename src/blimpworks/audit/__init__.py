"""Reading the records of jobs: where numbers come from, what changed, what differs."""
