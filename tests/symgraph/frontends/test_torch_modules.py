"""The modules of `torch.nn`: values and gradients of their graphs are PyTorch's, or why not."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import InputError

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.timeout(1200),
    # PyTorch's own, of modules and of functions that its export calls.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
torch = pytest.importorskip("torch", reason="the torch extra is not installed")
nn = torch.nn
TEXT = (Path(__file__).parents[3] / "docs" / "frontends.md").read_text(encoding="utf-8")


def rand(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


IMAGES = {1: rand(2, 4, 8), 2: rand(2, 4, 8, 8), 3: rand(2, 4, 4, 4, 4)}
ROWS, OTHER = rand(6, 4), rand(6, 4).roll(1, 0) / 2
SHARES, SIGNS = OTHER.sigmoid(), torch.sign(rand(6, 4))
LABELS, WORDS = torch.tensor([0, 1, 3, 2, 1, 0]), torch.tensor([[0, 3, 1], [6, 6, 2]])
SEQUENCE, QUERY, KEY = rand(5, 2, 4), rand(5, 2, 8), rand(4, 2, 8)

Row = tuple[str, dict[str, Any], tuple[Any, ...]]
"""The class, its arguments, those of a call."""
MODULES: list[Row] = []


def row(name: str, *args: Any, **options: Any) -> None:
    MODULES.append((name, options, args))


for n, image in IMAGES.items():
    sizes: dict[str, Any] = {"in_channels": 4, "out_channels": 6, "kernel_size": 3}
    row(f"Conv{n}d", image, **sizes, padding=1, groups=2)
    row(f"ConvTranspose{n}d", image, **sizes, stride=2, output_padding=1)
    for each in ("MaxPool", "AvgPool"):
        row(f"{each}{n}d", image, kernel_size=3, stride=2, padding=1, ceil_mode=True)
    for each in ("AdaptiveAvgPool", "AdaptiveMaxPool"):
        row(f"{each}{n}d", image, output_size=2)
        row(f"{each}{n}d", image, output_size=3)
    row(f"LPPool{n}d", image.abs() + 0.1, norm_type=2, kernel_size=2)
    row(f"BatchNorm{n}d", image, num_features=4, track_running_stats=False)
    row(f"InstanceNorm{n}d", image, num_features=4, affine=True)
    for each in ("ReflectionPad", "ReplicationPad", "ZeroPad", "CircularPad"):
        row(f"{each}{n}d", image, padding=1)
    row(f"ConstantPad{n}d", image, padding=1, value=2.0)
    row(f"Dropout{n}d", image)
for each in ("reflect", "replicate", "circular"):
    row("Conv2d", IMAGES[2], **sizes, padding=1, padding_mode=each)
row("AvgPool2d", IMAGES[2], kernel_size=2, divisor_override=3)
row("GroupNorm", IMAGES[2], num_groups=2, num_channels=4)
row("LayerNorm", ROWS, normalized_shape=4)
row("RMSNorm", ROWS, normalized_shape=4)
row("LocalResponseNorm", IMAGES[2], size=2)
row("Embedding", WORDS, num_embeddings=7, embedding_dim=3, padding_idx=6)
row("EmbeddingBag", WORDS, num_embeddings=7, embedding_dim=3)
row("EmbeddingBag", WORDS[0], torch.tensor([0, 2]), num_embeddings=7, embedding_dim=3, mode="sum")
for each in ("RNN", "GRU", "LSTM"):
    row(each, SEQUENCE, input_size=4, hidden_size=3, num_layers=2, bidirectional=True)
    row(f"{each}Cell", SEQUENCE[0], input_size=4, hidden_size=3)
row("LSTM", SEQUENCE, input_size=4, hidden_size=3, proj_size=2)
row("MultiheadAttention", QUERY, KEY, KEY, embed_dim=8, num_heads=2, add_bias_kv=True)
row("TransformerEncoderLayer", QUERY, d_model=8, nhead=2, dim_feedforward=16)
row("TransformerDecoderLayer", QUERY, KEY, d_model=8, nhead=2, dim_feedforward=16)
LAYERS: dict[str, Any] = {"num_encoder_layers": 1, "num_decoder_layers": 1, "dim_feedforward": 16}
row("Transformer", QUERY, KEY, d_model=8, nhead=2, **LAYERS)
for each in ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Identity", "Flatten"):
    row(each, ROWS)
for each in (
    *["CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Mish"],
    *["LeakyReLU", "LogSigmoid", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid"],
    *["Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink"],
):
    row(each, ROWS)
row("GELU", ROWS, approximate="tanh")
row("Softmax", ROWS, dim=-1)
row("Softmin", ROWS, dim=-1)
row("LogSoftmax", ROWS, dim=0)
row("Softmax2d", IMAGES[2])
row("Threshold", ROWS, threshold=0.1, value=2.0)
row("Unflatten", ROWS, dim=1, unflattened_size=(2, 2))
row("Fold", rand(1, 8, 9), output_size=(4, 4), kernel_size=2)
row("Unfold", IMAGES[2], kernel_size=2)
row("Linear", ROWS, in_features=4, out_features=3)
row("Bilinear", ROWS, OTHER, in1_features=4, in2_features=4, out_features=2)
row("CosineSimilarity", ROWS, OTHER)
row("PairwiseDistance", ROWS, OTHER)
row("PixelShuffle", IMAGES[2], upscale_factor=2)
row("PixelUnshuffle", IMAGES[2], downscale_factor=2)
row("ChannelShuffle", IMAGES[2], groups=2)
row("UpsamplingNearest2d", IMAGES[2], scale_factor=2)
row("UpsamplingBilinear2d", IMAGES[2], scale_factor=2)
for each in ("nearest", "nearest-exact", "bilinear", "bicubic"):
    row("Upsample", IMAGES[2], scale_factor=2, mode=each)
row("Upsample", IMAGES[1], size=11, mode="linear")
row("Upsample", IMAGES[3], size=(5, 3, 6), mode="trilinear")

row("L1Loss", ROWS, OTHER)
row("MSELoss", ROWS, OTHER)
row("HuberLoss", ROWS, 3 * OTHER)
row("SmoothL1Loss", ROWS, OTHER, beta=0.5)
row("CrossEntropyLoss", ROWS, LABELS, label_smoothing=0.1, ignore_index=1)
row("CrossEntropyLoss", ROWS, SHARES)
row("LinearCrossEntropyLoss", ROWS, LABELS, in_features=4, num_classes=5)
row("NLLLoss", ROWS, LABELS)
row("PoissonNLLLoss", ROWS, SHARES)
row("PoissonNLLLoss", ROWS, 4 * SHARES, full=True)
row("KLDivLoss", ROWS, SHARES, reduction="batchmean")
row("BCELoss", SHARES, SHARES**2)
row("BCEWithLogitsLoss", ROWS, SHARES)
row("MarginRankingLoss", ROWS, OTHER, SIGNS, margin=0.5)
row("HingeEmbeddingLoss", ROWS, SIGNS)
row("MultiLabelMarginLoss", ROWS, (LABELS[:, None] - torch.tensor([0, 1, 2, 3])).clamp(min=-1))
row("MultiLabelSoftMarginLoss", ROWS, (SHARES > 0.5).float())
row("MultiMarginLoss", ROWS, LABELS)
row("SoftMarginLoss", ROWS, SIGNS)
row("CosineEmbeddingLoss", ROWS, OTHER, SIGNS[:, 0])
row("TripletMarginLoss", ROWS, OTHER, SHARES)
row("TripletMarginWithDistanceLoss", ROWS, OTHER, SHARES)

REFUSED: dict[str, tuple[Callable[[], Any], tuple[Any, ...], str]] = {
    "AdaptiveLogSoftmaxWithLoss": (
        lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 10, [3, 6]),
        (ROWS, LABELS),
        "torch.export cannot read it",
    ),
    "CTCLoss": (
        nn.CTCLoss,
        (rand(6, 2, 5), WORDS[:, :2], torch.tensor([6, 6]), torch.tensor([2, 2])),
        "torch.export cannot read it",
    ),
    "CrossMapLRN2d": (
        lambda: nn.CrossMapLRN2d(2),
        (IMAGES[2],),
        "torch.export cannot read it",
    ),
    "FractionalMaxPool2d": (
        lambda: nn.FractionalMaxPool2d(2, output_size=3),
        (IMAGES[2],),
        "random numbers",
    ),
    "FractionalMaxPool3d": (
        lambda: nn.FractionalMaxPool3d(2, output_size=2),
        (IMAGES[3],),
        "random numbers",
    ),
    "GaussianNLLLoss": (
        nn.GaussianNLLLoss,
        (ROWS, OTHER, SHARES),
        "torch.export cannot read it",
    ),
    **{
        f"MaxUnpool{n}d": (
            lambda n=n: getattr(nn, f"MaxUnpool{n}d")(2),
            (rand(1, 1, *[2] * n), torch.arange(2**n).reshape(1, 1, *[2] * n)),
            "places of the largest elements",
        )
        for n in (1, 2, 3)
    },
}


def leaves(results: Any) -> Iterator[Any]:
    """The tensors or arrays of nested results."""
    if isinstance(results, (tuple, list)):
        for each in results:
            yield from leaves(each)
    elif results is not None:
        yield results


def made(place: int) -> tuple[Any, tuple[Any, ...]]:
    """A module with certain weights in evaluation mode, and the arguments of a call."""
    name, options, args = MODULES[place]
    torch.manual_seed(0)
    return getattr(nn, name)(**options).eval(), args


@pytest.mark.parametrize("place", range(len(MODULES)), ids=lambda place: MODULES[place][0])
def test_values_and_gradients_are_those_of_pytorch(place: int) -> None:
    module, args = made(place)
    graph = sg.from_torch(module, args)
    parameters = dict(module.named_parameters())
    arriving = iter(args)
    tensors = [parameters[n] if n in parameters else next(arriving) for n in graph.inputs]
    given = [each.detach().numpy() for each in tensors]
    targets = [each.detach().clone() for each in tensors]
    wanted = [
        name
        for name, each in zip(graph.inputs, targets, strict=True)
        if each.is_floating_point() and (name in parameters or each is targets[0])
    ]
    expected = list(leaves(copy.deepcopy(module)(*args)))
    found = list(leaves(graph.evaluate(*given)))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-4, atol=1e-5)
    tracked = dict(zip(graph.inputs, targets, strict=True))
    for name in wanted:
        tracked[name].requires_grad_()
    own = {name: tracked[name] for name in parameters}
    call = tuple([tracked[name] for name in graph.inputs if name not in parameters])
    first = next(leaves(torch.func.functional_call(module, own, call)))
    weights = torch.sin(torch.arange(float(first.numel()))).reshape(first.shape)
    slopes = torch.autograd.grad(
        (first * weights).sum(), [tracked[name] for name in wanted], allow_unused=True
    )
    out = next(iter(graph.outputs.values()))
    total = sg.graph(np.sum(out * weights.numpy()), inputs=list(graph.inputs.values()))
    ours = total.gradient(*wanted, value=False).evaluate(*given)
    for one, other in zip([ours] if len(wanted) == 1 else ours, slopes, strict=True):
        theirs = np.zeros(one.shape) if other is None else other.numpy()
        scale = max(1.0, float(np.max(np.abs(theirs), initial=0)))
        np.testing.assert_allclose(one, theirs, rtol=1e-3, atol=1e-4 * scale)


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused(name: str) -> None:
    make, args, why = REFUSED[name]
    kind = Exception if why == "torch.export cannot read it" else InputError
    with pytest.raises(kind):
        sg.from_torch(make(), args)


# -- the documentation -----------------------------------------------------------------------------
ABSTRACT = {
    *["Module", "Container", "Sequential", "ModuleDict", "ModuleList", "ParameterDict"],
    *[
        "ParameterList",
        "SyncBatchNorm",
        "DataParallel",
        "NLLLoss2d",
        "TransformerEncoder",
        "TransformerDecoder",
    ],
    *["Softmax2d", "RNNBase", "RNNCellBase", "Parameter", "Buffer"],
}


def test_every_module_is_in_a_list() -> None:
    classes = {
        name
        for name in dir(nn)
        if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)
    }
    lazy = {name for name in classes if name.startswith("Lazy")}  # Others after their first call.
    assert classes - lazy - ABSTRACT - {name for name, *_ in MODULES} - set(REFUSED) == set()


def test_the_documentation_names_the_modules() -> None:
    part = TEXT.split("\n### Modules of `torch.nn`\n")[1].split("\n### ")[0]
    known, refused = part.split("):", 1)[1].split("\n| ", 1)
    assert re.findall(r"`(\w+)`", known) == sorted({name for name, *_ in MODULES})
    rows = dict(re.findall(r"\| `(\w+)` \| (.+?) \|", refused))
    assert rows == {name: why for name, (_, _, why) in REFUSED.items()}
