"""Models of PyTorch as graphs: the same loss and gradients, fewer FLOPs, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgraph as sg
from symgraph.errors import DTypeError, InputError
from symgraph.frontends.torch.conversion import Walk
from symgraph.frontends.torch.program import DecomposedProgramWarning

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.timeout(1200),
    # PyTorch's own, of functions that its export calls.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:LSTM with projections is not supported:UserWarning"),
]
torch = pytest.importorskip("torch", reason="the torch extra is not installed")
nn, F = torch.nn, torch.nn.functional


class Loss(nn.Module):
    """A model with a loss of its result."""

    def __init__(self, model: Any, loss: Callable[[Any], Any]) -> None:
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, x: Any) -> Any:
        return self.loss(self.model(x))


class Block(nn.Module):
    """The basic block of a residual network, which writes in place as such networks do."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Any) -> Any:
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        y += x
        return self.relu(y)


def block() -> Any:
    made = Block(4)
    made(torch.randn(8, 4, 6, 6))  # Statistics other than 0 and 1.
    return made.eval()


def classifier() -> Any:
    return nn.Sequential(
        nn.Embedding(7, 5, padding_idx=0),
        nn.Flatten(1),
        nn.Linear(15, 8),
        nn.GELU(),
        nn.LayerNorm(8),
        nn.Dropout(0.5),
        nn.Linear(8, 4),
    ).eval()


class Cells(nn.Module):
    """A loop over a cell, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 3)

    def forward(self, x: Any) -> Any:
        h = torch.zeros(x.shape[1], 3)
        for each in x:
            h = self.cell(each, h)
        return h


def squares(result: Any) -> Any:
    """A loss of one result or of nested ones: the squared distance from certain numbers."""
    if isinstance(result, (tuple, list)):
        return sum(squares(each) for each in result)
    goal = torch.sin(torch.arange(float(result.numel()))).reshape(result.shape)
    return ((result - goal) ** 2).sum()


def entropy(result: Any) -> Any:
    return F.cross_entropy(result, torch.tensor([1, 0, 3]))


def perplexity(result: Any) -> Any:
    return -(result.softmax(-1) * result.log_softmax(-1)).sum(-1).mean()


def encoder(**options: Any) -> Any:
    return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, **options).eval()


def sequence() -> Any:
    return torch.randn(5, 2, 4)


MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[Any], Any]]] = {
    "residual block": (block, lambda: torch.randn(2, 4, 6, 6), squares),
    "encoder layer": (encoder, lambda: torch.randn(2, 5, 16), squares),
    "encoder layer, norm first": (
        lambda: encoder(norm_first=True, activation="gelu"),
        lambda: torch.randn(2, 5, 16),
        squares,
    ),
    "encoder of two": (
        lambda: nn.TransformerEncoder(encoder(), 2, enable_nested_tensor=False).eval(),
        lambda: torch.randn(2, 5, 16),
        squares,
    ),
    "gru": (lambda: nn.GRU(4, 3), sequence, squares),
    "gru, two layers and directions": (
        lambda: nn.GRU(4, 3, num_layers=2, bidirectional=True, batch_first=True, bias=False),
        sequence,
        squares,
    ),
    "gru without a batch": (lambda: nn.GRU(4, 3), lambda: torch.randn(5, 4), squares),
    "gru cell in a loop": (Cells, sequence, squares),
    "lstm": (lambda: nn.LSTM(4, 3, num_layers=2), sequence, squares),
    "lstm that projects its state": (
        lambda: nn.LSTM(4, 3, num_layers=2, proj_size=2, bidirectional=True),
        sequence,
        squares,
    ),
    "rnn": (lambda: nn.RNN(4, 3), sequence, squares),
    "rnn of relu": (lambda: nn.RNN(4, 3, nonlinearity="relu"), sequence, squares),
    "classifier": (classifier, lambda: torch.tensor([[0, 3, 6], [1, 1, 2], [4, 0, 0]]), entropy),
    "softmax": (lambda: nn.Linear(4, 3), lambda: torch.randn(6, 4), perplexity),
}


@pytest.mark.parametrize("name", MODELS)
def test_loss_and_gradients_are_those_of_pytorch(name: str) -> None:
    torch.manual_seed(0)
    make, example, loss = MODELS[name]
    model, x = Loss(make(), loss), example()
    model.train(model.model.training)
    graph = sg.from_torch(model, x)
    parameters = dict(model.named_parameters())
    assert list(graph.inputs) == ["x", *parameters]
    expected = model(x)
    slopes = torch.autograd.grad(expected, list(parameters.values()))
    values = {each: tensor.detach().numpy() for each, tensor in parameters.items()}
    joint = graph.gradient(*parameters)
    for each in (joint, joint.simplify()):
        value, found = each.lower()(x=x.numpy(), **values)
        np.testing.assert_allclose(value, expected.item(), rtol=1e-5)
        for ours, theirs in zip(found, slopes, strict=True):
            assert ours.dtype == np.float32
            largest = float(theirs.abs().max())
            np.testing.assert_allclose(
                ours, theirs.numpy(), rtol=1e-5, atol=1e-5 * max(largest, 1e-3)
            )


# -- FLOPs -----------------------------------------------------------------------------------------
def autograds_graph(model: Any, x: Any) -> Any:
    """What PyTorch's autograd runs for loss and gradients, decomposed, read in as a graph."""
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    values = {name: each.detach() for name, each in model.named_parameters()}

    def step(tensors: Any, x: Any) -> Any:
        leaves = [each.detach().requires_grad_() for each in tensors]
        loss = torch.func.functional_call(model, dict(zip(values, leaves, strict=True)), (x,))
        return loss, *torch.autograd.grad(loss, leaves)

    table = core_aten_decompositions()
    module = make_fx(step, decomposition_table=table, tracing_mode="fake")(list(values.values()), x)
    places = [node for node in module.graph.nodes if node.op == "placeholder"]
    inputs = [sg.input(node.name, tuple(node.meta["val"].shape), "float32") for node in places]
    return step, list(values.values()), sg.graph(*Walk({}).results(module, inputs), inputs=inputs)


def products(graph: Any) -> int:
    """FLOPs of matrix products alone, as PyTorch counts them."""
    nodes = [n for n in graph.nodes if n.op.name in ("matmul", "einsum")]
    flops = [n.op.flops(n.aval, *[each.aval for each in n.operands], **n.params) for n in nodes]
    return int(sum(flops))


def test_the_gradient_of_an_encoder_layer_has_fewer_flops_than_autograds() -> None:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).eval()
    model, x = Loss(layer, lambda y: (y * y).mean()), torch.randn(8, 20, 64)
    with sdpa_kernel(SDPBackend.MATH):
        step, values, theirs = autograds_graph(model, x)
        with FlopCounterMode(display=False) as counter:
            step(values, x)
    names = [name for name, _ in model.named_parameters()]
    ours = sg.from_torch(model, x).gradient(*names).simplify()
    # One count for both; that of products is PyTorch's own to the last one.
    assert products(theirs) == counter.get_total_flops()
    assert products(ours) <= products(theirs)
    assert ours.flops() < theirs.flops()
    rest = [each.flops() - products(each) for each in (ours, theirs)]
    assert rest[0] < 0.9 * rest[1]


# -- inputs and outputs ----------------------------------------------------------------------------
def test_parameters_and_buffers_are_inputs_or_constants() -> None:
    model = block()
    x = torch.randn(2, 4, 6, 6)
    expected = model(x).detach().numpy()
    every = [name for name, _ in model.named_parameters()]
    statistics = [name for name, _ in model.named_buffers() if "running" in name]
    assert list(sg.from_torch(model, x).inputs) == ["x", *every]
    alone = sg.from_torch(model, x, parameters="constants")
    assert list(alone.inputs) == ["x"]
    np.testing.assert_allclose(alone.evaluate(x=x.numpy()), expected, rtol=1e-5, atol=1e-5)
    some = sg.from_torch(model, x, parameters=["conv1.weight"], buffers=statistics)
    assert list(some.inputs) == ["x", "conv1.weight", *statistics]
    with pytest.raises(InputError, match="parameters='input' is not known"):
        sg.from_torch(model, x, parameters="input")


def test_tied_weights_are_one_input_and_their_gradients_add_up() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)
            self.second.weight = self.first.weight

        def forward(self, x: Any) -> Any:
            return (self.second(torch.tanh(self.first(x))) ** 2).sum()

    model, x = Tied(), torch.randn(2, 3)
    graph = sg.from_torch(model, x)
    assert list(graph.inputs) == ["x", "first.weight"]
    slope = graph.gradient("first.weight", value=False).lower()
    found = slope(x.numpy(), model.first.weight.detach().numpy())
    (expected,) = torch.autograd.grad(model(x), [model.first.weight])
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5, atol=1e-5)


def test_results_are_grouped_as_the_model_groups_them() -> None:
    def model(x: Any, pair: Any, *, scale: Any = None) -> Any:
        return {"sum": x + pair["a"], "rest": (pair["b"] * 2, None, [x])}

    x = torch.ones(2)
    graph = sg.from_torch(model, (x, {"a": x, "b": x}))
    found = graph.evaluate(np.ones(2, "f4"), np.ones(2, "f4"), np.ones(2, "f4"))
    assert set(found) == {"sum", "rest"}
    assert isinstance(found["rest"], tuple)
    assert len(found["rest"]) == 2
    np.testing.assert_array_equal(found["rest"][0], [2, 2])


def test_dimensions_have_the_names_of_torch_export() -> None:
    def model(x: Any, y: Any) -> Any:
        rows = x.shape[0]
        return torch.cat([x, y]).mean(0) + x.reshape(rows * 3)[0] / rows

    n = torch.export.Dim("n", min=2)
    given = (torch.randn(4, 3), torch.randn(4, 3))
    graph = sg.from_torch(model, given, dynamic_shapes={"x": {0: n}, "y": {0: n}})
    assert [str(each.aval) for each in graph.inputs.values()] == ["float32[n, 3]"] * 2
    for rows in (1, 2, 7):
        x, y = torch.randn(rows, 3), torch.randn(rows, 3)
        np.testing.assert_allclose(
            graph.lower()(x.numpy(), y.numpy()), model(x, y).numpy(), rtol=1e-5, atol=1e-6
        )


def test_facts_of_inputs_are_stated() -> None:
    graph = sg.from_torch(lambda x: torch.sqrt(x * x), torch.ones(3), assume={"x": sg.nonnegative})
    assert str(graph.simplify().formula()) == "x"
    with pytest.raises(InputError, match="assume= names y, which no input is"):
        sg.from_torch(torch.exp, torch.ones(3), assume={"y": sg.nonnegative})


def test_it_goes_back_to_pytorch() -> None:
    pytest.importorskip("array_api_compat", reason="the torch extra is not installed")
    model, x = Loss(encoder(), squares), torch.randn(2, 5, 16)
    step = sg.from_torch(model, x).gradient("model.linear1.weight").simplify().lower("torch")
    with torch.no_grad():
        _, slope = step(x=x, **dict(model.named_parameters()))
    assert isinstance(slope, torch.Tensor)
    (expected,) = torch.autograd.grad(model(x), [model.model.linear1.weight])
    torch.testing.assert_close(slope, expected, rtol=1e-5, atol=1e-4)


# -- what is written -------------------------------------------------------------------------------
class Trained(nn.Module):
    """A network with batch norm in training mode, which counts its calls, and its loss."""

    def __init__(self) -> None:
        super().__init__()
        parts = [nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4)]
        self.net = nn.Sequential(*parts, nn.BatchNorm1d(4, momentum=0.3))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Any, y: Any) -> Any:
        self.calls += 1
        return F.mse_loss(self.net(x), y)


@pytest.mark.parametrize("decomposed", [False, True])
def test_new_values_of_buffers_are_results(decomposed: bool) -> None:
    torch.manual_seed(0)
    model, x, y = Trained(), torch.randn(5, 2, 6, 6), torch.randn(5, 4)
    program = torch.export.export(model, (x, y), strict=False)
    if decomposed:
        graph = sg.from_torch(program.run_decompositions(), updates="results")
    else:
        graph = sg.from_torch(model, (x, y), updates="results")
    names = [name for name, _ in model.named_parameters()]
    assert list(graph.inputs) == ["x", "y", *names, *dict(model.named_buffers())]
    loss, *new = graph.outputs
    slopes = graph.gradient(*names, of=loss, value=False)
    every = [*graph.outputs.values(), *slopes.outputs.values()]
    step = sg.graph(*every, inputs=list(graph.inputs.values())).simplify().lower()
    for _ in range(2):  # The second step starts from the statistics of the first.
        before = {name: each.detach().numpy().copy() for name, each in model.state_dict().items()}
        value, *rest = step(x=x.numpy(), y=y.numpy(), **before)
        expected = model(x, y)
        gradients = torch.autograd.grad(expected, list(model.parameters()))
        np.testing.assert_allclose(value, expected.item(), rtol=1e-5)
        found = dict(zip(new, rest[: len(new)], strict=True))
        for name, buffer in model.named_buffers():
            ours = found[f"out1.{name}"]
            assert str(ours.dtype) == str(buffer.dtype).removeprefix("torch.")
            np.testing.assert_allclose(ours, buffer.numpy(), rtol=1e-5, atol=1e-6)
        for ours, theirs in zip(rest[len(new) :], gradients, strict=True):
            np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-4, atol=1e-5)


def test_statistics_have_no_gradient() -> None:
    graph = sg.from_torch(nn.BatchNorm1d(4), torch.randn(6, 4), updates="results")
    _, mean, *_ = graph.outputs.values()
    slope = sg.graph(np.sum(mean), inputs=list(graph.inputs.values())).gradient("input")
    x, others = np.ones((6, 4), "f4"), [np.ones(4, "f4")] * 4
    given = dict(zip(graph.inputs, [x, *others, np.int64(0)], strict=True))
    np.testing.assert_array_equal(slope.evaluate(**given)[1], 0)


# -- what is detached ------------------------------------------------------------------------------
class Stopped(nn.Module):
    """Values without a gradient in three ways, and writing in place between them."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            fixed = F.layer_norm(self.layer(x * 2).sin(), (3,))
        y = torch.zeros(3)
        y[1:] = x[1:] * 2
        return (fixed * x).sum() + (x.detach() * self.layer(x)).sum() + y.sum() ** 2


@pytest.mark.parametrize("decomposed", [None, {}, "core"])
def test_what_is_detached_has_no_gradient(decomposed: Any) -> None:
    torch.manual_seed(0)
    model, x = Stopped(), torch.randn(3, requires_grad=True)
    program = torch.export.export(model, (x,), strict=False)
    if decomposed is not None:
        program = program.run_decompositions(None if decomposed == "core" else decomposed)
    graph = sg.from_torch(program).gradient("x", "layer.weight", value=False)
    values = {name: each.detach().numpy() for name, each in model.named_parameters()}
    found = graph.evaluate(x=x.detach().numpy(), **values)
    expected = torch.autograd.grad(model(x), [x, model.layer.weight])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-5, atol=1e-6)


def test_a_decomposed_program_that_lost_its_marks_is_warned_of() -> None:
    program = torch.export.export(Stopped(), (torch.randn(3),), strict=False)
    program = program.run_decompositions()
    for node in program.graph.nodes:
        node.meta.pop("torch_fn", None)
    with pytest.warns(DecomposedProgramWarning, match="gradients flow through that"):
        sg.from_torch(program)


# -- refused ---------------------------------------------------------------------------------------
def refused(model: Any, *args: Any, kind: type[Exception] = InputError, match: str) -> str:
    with pytest.raises(kind, match=match) as caught:
        sg.from_torch(model, args)
    return str(caught.value)


def test_an_unknown_operation_is_named_with_the_models_line() -> None:
    class Spectrum(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.histc(x)  # the line

    text = refused(nn.Sequential(Spectrum()), torch.ones(3), match="aten.histc.default has no")
    assert "test_torch_models.py" in text
    assert "return torch.histc(x)  # the line" in text
    assert "in the module 0" in text


@pytest.mark.parametrize(
    ("model", "args", "match"),
    [
        (lambda: nn.TransformerEncoderLayer(4, 2, 8), (2, 3, 4), "drops values at random"),
        (lambda: nn.Dropout(), (3,), "aten.dropout.default drops values at random"),
        (lambda: nn.GRU(4, 3, 2, dropout=0.5), (5, 2, 4), "drops values at random"),
        (lambda: nn.BatchNorm1d(4), (2, 4), "writes its buffer 'running_mean'"),
        (lambda: nn.InstanceNorm1d(4, track_running_stats=True), (2, 4, 3), "would write its"),
        (lambda: lambda x: F.max_pool1d(x, 2, return_indices=True), (2, 4), "has no counterpart"),
        (lambda: lambda x: F.max_pool2d(x, 2, return_indices=True), (1, 2, 4), "The model gives"),
        (lambda: lambda x: x.relu_(), (3,), "writes into its argument 'x'"),
        (lambda: lambda x: x[x > 0].sum(), (3,), "picks elements by a mask"),
        (lambda: lambda x: torch.rand(3) * x, (3,), "aten.rand.default has no counterpart"),
        (lambda: lambda x: x.as_strided((2,), (1,)), (3,), "aten.as_strided.default has no"),
        (lambda: lambda x: x.median(), (3,), "aten.median.default has no counterpart"),
    ],
)
def test_what_has_no_counterpart_is_refused(model: Any, args: Any, match: str) -> None:
    refused(model(), torch.ones(args), match=match)


def test_dtypes_that_graphs_do_not_have() -> None:
    def model(x: Any) -> Any:
        return x.bfloat16() * 2

    refused(model, torch.ones(3), match="aten.to.dtype gives values of a dtype.*bfloat16")
    narrow = torch.ones(3, dtype=torch.bfloat16)
    refused(lambda x: x * 2, narrow, kind=DTypeError, match="bfloat16")


def test_parameters_that_a_model_writes() -> None:
    layer = nn.Embedding(7, 3, max_norm=1.0)
    text = refused(layer, torch.tensor([0, 3]), match="The model writes its parameter 'weight'")
    assert "leave max_norm away" in text


def test_what_is_no_model() -> None:
    with pytest.raises(InputError, match="updates='drop' is not known"):
        sg.from_torch(nn.Linear(3, 1), torch.ones(3), updates="drop")  # type: ignore[arg-type]
    refused("model.pt", torch.ones(3), match="not of 'model.pt'")
    program = torch.export.export(nn.Linear(3, 2), (torch.ones(3),))
    refused(program, torch.ones(3), match="holds its example arguments")
