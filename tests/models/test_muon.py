import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from blimpworks.models.transformer import Muon, orthogonalised


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 1000))
def test_of_a_matrix_directions_stay_and_lengths_become_about_one(rows, columns, seed):
    matrix = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))
    left, lengths, right = torch.linalg.svd(matrix, full_matrices=False)
    new = torch.diagonal(left.T @ orthogonalised(matrix) @ right.T)
    # Only what is tiny beside the rest stays small.
    assert new.max() < 1.3
    assert new[lengths > lengths.max() / 20].min() > 0.5


@pytest.mark.parametrize("shape", [(24, 24), (12, 40), (40, 12)])
def test_steps_are_those_of_pytorch_but_for_its_rounding(shape):
    draw = torch.Generator().manual_seed(0)
    start = torch.randn(shape, generator=draw)
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    pytorch = torch.optim.Muon([theirs], lr=0.02, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    muon = Muon([ours], weight_decay=0.1)
    for group in muon.param_groups:
        group["lr"] = 0.02
    for _ in range(5):
        ours.grad = torch.randn(shape, generator=draw)
        theirs.grad = ours.grad.clone()
        muon.step()
        pytorch.step()
    moved = (ours - start).norm()
    assert (ours - theirs).norm() < 0.02 * moved


def test_a_matrix_without_gradient_stays_as_it_is():
    matrix = torch.nn.Parameter(torch.ones(2, 3))
    Muon([matrix], weight_decay=0.1).step()
    assert torch.equal(matrix, torch.ones(2, 3))
