import pytest
import torch

from blimpworks.models.fitting import Muon


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
