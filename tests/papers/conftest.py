from functools import cache

import numpy as np
import pytest


@pytest.fixture(scope="session", autouse=True)
def each_test_of_ranks_once():
    """scipy's exact test of the same tied differences is done once: it goes through all signs."""
    from blimpworks.papers.urblimp import analysis

    wilcoxon = analysis.wilcoxon

    @cache
    def known(differences, method):
        return wilcoxon(np.array(differences), method=method)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "wilcoxon", lambda d, method: known(tuple(d), method))
        yield
