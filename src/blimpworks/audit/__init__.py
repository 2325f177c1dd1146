"""Reading of jobs' records: origins of numbers, changes, differences."""
