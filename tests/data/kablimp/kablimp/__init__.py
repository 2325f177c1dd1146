"""KabLiMP: pairs of English about a verb and its subject, as a paper of its own would have them."""
