"""Muon: momentum whose steps are made orthogonal, for the matrices inside a network.

Source: Jordan, Jin, Boza and others (2024), "Muon: An optimizer for hidden layers in neural
networks"; for the size of its steps Liu, Su, Yao and others (2025), "Muon is scalable for LLM
training", section 2.2.
"""

from collections.abc import Iterable
from typing import Any

import torch

MOMENTUM = 0.95
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5
STEP_SIZE = 0.2
"""Root mean square of AdamW's steps at a rate of one, which Muon's are scaled to."""
LEAST_NORM = 1e-7


def orthogonalised(matrix: torch.Tensor) -> torch.Tensor:
    """``matrix`` [m, n] with singular values near one, by Newton-Schulz iteration."""
    wide = matrix.size(0) <= matrix.size(1)
    result = matrix if wide else matrix.T
    result = result / result.norm().clamp(min=LEAST_NORM)
    linear, cubic, quintic = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = result @ result.T
        higher = torch.addmm(gram, gram, gram, beta=cubic, alpha=quintic)
        result = torch.addmm(result, higher, result, beta=linear)
    return result if wide else result.T


class Muon(torch.optim.Optimizer):
    """Muon of some matrices, with steps of the size of AdamW's and decoupled weight decay.

    As PyTorch's own with ``match_rms_adamw``, in float32: that one rounds to bfloat16, which takes
    processors without that format many times as long.
    """

    def __init__(self, matrices: Iterable[torch.nn.Parameter], *, weight_decay: float) -> None:
        """``lr`` of its groups is to be set before each step."""
        super().__init__(matrices, {"lr": 0.0, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Change each matrix that has a gradient; ``closure`` is not used."""
        for group in self.param_groups:
            rate, decay = group["lr"], group["weight_decay"]
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["momentum_buffer"] = torch.zeros_like(matrix)
                momentum = state["momentum_buffer"]
                momentum.lerp_(matrix.grad, 1 - MOMENTUM)
                direction = orthogonalised(matrix.grad.lerp(momentum, MOMENTUM))
                matrix.mul_(1 - rate * decay)
                matrix.add_(direction, alpha=-rate * STEP_SIZE * max(matrix.shape) ** 0.5)
