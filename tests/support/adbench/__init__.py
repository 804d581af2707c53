r"""Two objectives of ADBench in plain NumPy, and the values published for them.

F. Šrajer, Z. Kukelova and A. Fitzgibbon, "A benchmark of selected algorithmic differentiation tools
on some problems in computer vision and machine learning", Optimization Methods and Software 33
(2018). `golden.json` holds the inputs `data/gmm/test.txt` and `data/ba/test.txt` of the repository
microsoft/ADBench (MIT licence) and the expected values of its test suite.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaln

__all__ = ["GOLDEN", "gmm", "project", "reprojection_error"]

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden.json").read_text("utf-8"))


def gmm(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, m: int) -> Any:
    r"""Log-likelihood of a Gaussian mixture with a Wishart prior on the precisions.

    $\sum_i \log \sum_k \exp(\alpha_k + \sum_j q_{kj} - \tfrac12 |Q_k (x_i - \mu_k)|^2)$ and what
    normalises it; $Q_k$ is lower triangular with diagonal $e^{q_k}$.
    """
    (count, d), components = x.shape, means.shape[0]
    logs, below = icf[:, :d], icf[:, d:]
    sums = np.sum(logs, axis=1)
    centred = x[:, None, :] - means[None, :, :]
    rows = []
    for row in range(d):
        entry = np.exp(logs[:, row]) * centred[:, :, row]
        for column in range(row):
            # Columns of the lower triangle follow one another.
            place = column * d - column * (column + 1) // 2 + row - column - 1
            entry = entry + below[:, place] * centred[:, :, column]
        rows.append(entry)
    quadratic = np.sum(np.stack(rows, axis=-1) ** 2, axis=-1)
    inner = alphas + sums - 0.5 * quadratic
    likelihood = np.sum(np.log(np.sum(np.exp(inner), axis=1)))
    likelihood = likelihood - count * np.log(np.sum(np.exp(alphas)))
    squares = np.sum(np.exp(2 * logs)) + np.sum(below**2)
    prior = 0.5 * gamma**2 * squares - m * np.sum(sums)
    constant = -count * d * 0.5 * np.log(2 * np.pi) - components * wishart_constant(d, gamma, m)
    return constant + likelihood + prior


def wishart_constant(d: int, gamma: Any, m: int) -> Any:
    """What normalises the Wishart prior of one component."""
    n = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * np.log(np.pi)
    log_gamma += sum(gammaln(0.5 * n + 0.5 * (1 - j)) for j in range(1, d + 1))
    return n * d * (np.log(gamma) - 0.5 * np.log(2)) - log_gamma


def project(camera: Any, point: Any) -> Any:
    """A point seen by a camera: rotation (angle times axis), centre, focal length, offset, lens."""
    rotation, centre, focal = camera[:3], camera[3:6], camera[6]
    offset, lens = camera[7:9], camera[9:11]
    seen = rotated(rotation, point - centre)
    flat = seen[:2] / seen[2]
    squared = np.sum(flat**2)
    return flat * (1 + lens[0] * squared + lens[1] * squared**2) * focal + offset


def rotated(rotation: Any, x: Any) -> Any:
    """The formula of Rodrigues."""
    angle = np.sqrt(np.sum(rotation**2))
    axis = rotation / angle
    cross = np.stack(
        [
            axis[1] * x[2] - axis[2] * x[1],
            axis[2] * x[0] - axis[0] * x[2],
            axis[0] * x[1] - axis[1] * x[0],
        ]
    )
    along = np.sum(axis * x) * (1 - np.cos(angle))
    return x * np.cos(angle) + cross * np.sin(angle) + axis * along


def reprojection_error(camera: Any, point: Any, weight: Any, feature: Any) -> Any:
    """How far the point is seen from where it was found, weighted."""
    return weight * (project(camera, point) - feature)
