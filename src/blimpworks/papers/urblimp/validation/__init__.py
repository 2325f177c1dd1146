"""People's judgements of UrBLiMP's pairs: lists to fill in, and what is made of them.

Source: Adeeba, Dillon, Sajjad and Bhatt (2025), section 2.3.
"""
