"""The page of `symgraph serve` in a real browser: loaded, typed into, derived, stepped through."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest
from webdriver import Browser, missing

from symgraph.cli.answers import answer
from symgraph.page import PageServer

_WHY_NOT = missing()
# The build sets SYMGRAPH_BROWSER=1: there a missing browser is a failure.
pytestmark = [
    pytest.mark.browser,
    pytest.mark.whole,
    pytest.mark.skipif(
        bool(_WHY_NOT) and os.environ.get("SYMGRAPH_BROWSER") != "1", reason=_WHY_NOT
    ),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    with PageServer(answer, seconds=60) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        browser = Browser(1280, 1000)
        try:
            browser.visit(server.url)
            yield browser
        finally:
            browser.close()
            server.shutdown()
            thread.join()


def typed(page: Browser, **fields: str) -> None:
    """Type into the fields by the keyboard."""
    for name, text in fields.items():
        page.run("const e = document.getElementById(arguments[0]); e.value = ''; e.focus()", name)
        page.keys(*text)


def derived(page: Browser) -> None:
    page.run("document.getElementById('derive').click()")
    for _ in range(600):
        if not page.run("return document.getElementById('derive').disabled"):
            return
        time.sleep(0.1)
    raise AssertionError("no answer")


def told(page: Browser, name: str) -> str:
    return page.run(
        "const e = document.getElementById(arguments[0]);"
        "return e.checkVisibility() ? e.textContent : ''",
        name,
    )


def test_an_expression_is_typed_and_its_closed_form_seen(page: Browser) -> None:
    typed(page, expression="sum((A@x - b)**2)", wrt="x", shapes="A=m,n", facts="")
    page.run("document.getElementById('shapes').value += '\\nb=m'")
    derived(page)
    assert (
        told(page, "formulas")
        == "∂/∂x = "
        + answer({"expression": "sum((A@x - b)**2)", "wrt": "x", "shapes": "A=m,n\nb=m"})[
            "formulas"
        ][0][1]
    )
    assert told(page, "check").startswith("PASS: ")
    assert r"\frac{\partial f}{\partial x}" in told(page, "latex")
    assert told(page, "mathematics").startswith("∂f∂x=2")
    page.run("document.querySelector('#answer details').open = true")
    assert told(page, "latex_index").startswith(
        r"\frac{\partial f}{\partial x_{i}} = 2 \, \sum_{j=1}"
    )
    assert told(page, "math_index").startswith("∂f∂xi=2")
    assert page.run(
        "return document.querySelector('math mfrac').getBoundingClientRect().height > 20"
    )
    assert "np.matmul" in told(page, "source")
    assert told(page, "steps")
    width = page.run("return document.querySelector('#picture img').naturalWidth")
    assert width > 300
    assert page.messages() == []


def test_the_derivation_is_stepped_through_in_a_frame(page: Browser) -> None:
    page.run("document.getElementById('examples').dispatchEvent(new Event('change'))")
    derived(page)
    assert told(page, "formulas") == "∂/∂z = softmax(z) - p"
    page.run("[...document.querySelectorAll('#tabs button')].at(-1).click()")
    time.sleep(1)
    page.frame(0)
    steps = int(page.run("return document.body.dataset.step"))
    assert steps >= 3
    page.run("document.getElementById('back').click()")
    assert page.run("return document.body.dataset.step") == str(steps - 1)
    page.frame(None)
    assert page.run("return document.getElementById('explorer').sandbox.value") == "allow-scripts"
    # A script or style that the policy refuses would be told on the console.
    assert page.messages() == []


def test_an_error_is_shown_as_text_in_place_of_the_answer(page: Browser) -> None:
    hostile = "<img src=x onerror=\"document.title='broken'\">"
    typed(page, expression=hostile)
    derived(page)
    assert told(page, "error").startswith("ExpressionError: Not an expression")
    assert hostile in told(page, "error")
    assert told(page, "answer") == ""
    assert page.run("return document.title") == "symgraph"
    assert page.messages() == []
    page.run(
        "const s = document.createElement('script'); s.textContent = 'window.broken = 1';"
        "document.body.append(s)"
    )
    assert page.run("return window.broken === undefined")
    assert any("Content Security Policy" in each for each in page.messages())
