"""People's judgements of UrBLiMP's pairs.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3.
"""
