
"use strict";
// Everything that comes from the server is written as text, shown as an image, or put in a frame
// without privileges.
const of = (id) => document.getElementById(id);
const TOKEN = document.querySelector('meta[name="symgraph-token"]').content;
const FIELDS = ["expression", "wrt", "shapes", "facts", "dtypes", "sizes", "trust"];
const EXAMPLES = {
  "cross-entropy": {
    expression: "-sum(p*log(exp(z)/sum(exp(z))))", wrt: "z", facts: "p: simplex",
  },
  "least squares": {
    expression: "sum((A@x - b)**2)", wrt: "x", shapes: "A=m,n\nb=m",
  },
  "quadratic form": {
    expression: "x@A@x/2 - b@x", wrt: "x", shapes: "A=n,n", facts: "A: symmetric",
  },
  "logistic regression": {
    expression: "mean(log1p(exp(-y*(X@w)))) + 0.1*sum(w**2)", wrt: "w", shapes: "X=m,n\ny=m",
  },
  "log-determinant": {
    expression: "logdet(S) + trace(inv(S)@C)", wrt: "S", shapes: "S=n,n\nC=n,n",
    facts: "S: positive_definite\nC: symmetric",
  },
};
const ELEMENTS = new Set(("mrow mi mn mo mtext mfrac msqrt mroot msub msup msubsup munder mover " +
  "munderover mtable mtr mtd").split(" "));
let asked = 0;

function fill(example) {
  for (const field of FIELDS) {
    of(field).value = example[field] || (field === "trust" ? "rounding" : "");
  }
}

function made(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

function formula([tag, inside]) {
  if (!ELEMENTS.has(tag)) throw new Error(`${tag} is no part of a formula`);
  const element = document.createElementNS(of("math").namespaceURI, tag);
  if (typeof inside === "string") element.textContent = inside;
  else element.append(...inside.map(formula));
  return element;
}

function showMathematics(name, tree) {
  of(name).parentElement.hidden = !tree;
  if (tree) of(name).replaceChildren(formula(tree));
}

function choose(button, show) {
  for (const each of of("tabs").children) {
    each.setAttribute("aria-pressed", String(each === button));
  }
  show();
}

function tab(title, show) {
  const button = made("button", title);
  button.type = "button";
  button.addEventListener("click", () => choose(button, show));
  of("tabs").append(button);
  return () => choose(button, show);
}

function showGraphs(answer) {
  const picture = of("picture"), frame = of("explorer");
  of("tabs").replaceChildren();
  let last = null;
  for (const [title, svg] of answer.pictures) {
    last = tab(title, () => {
      const image = new Image();
      image.alt = title;
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
      picture.replaceChildren(image);
      picture.hidden = false;
      frame.hidden = true;
    });
  }
  let loaded = false;
  tab("step by step", () => {
    frame.hidden = false;
    picture.hidden = true;
    if (!loaded) frame.srcdoc = answer.explorer;
    loaded = true;
  });
  last();
}

function show(answer) {
  of("error").hidden = !answer.error;
  of("answer").hidden = Boolean(answer.error);
  if (answer.error) {
    of("status").textContent = "";
    of("error").textContent = answer.error;
    return;
  }
  of("status").textContent =
    `${answer.operations_before} operations as derived, ${answer.operations} now`;
  of("formulas").textContent =
    answer.formulas.map(([name, text]) => `∂/∂${name} = ${text}`).join("\n");
  of("check").textContent = answer.check.text;
  of("check").className = answer.check.ok ? "ok" : "";
  for (const name of ["latex", "latex_index", "steps", "source"]) of(name).textContent = answer[name].trimEnd();
  showMathematics("math", answer.mathematics);
  showMathematics("math_index", answer.mathematics_index);
  showGraphs(answer);
}

async function derive() {
  const number = ++asked;
  const question = Object.fromEntries(FIELDS.map((field) => [field, of(field).value]));
  of("derive").disabled = true;
  of("status").textContent = "Deriving …";
  let answer;
  try {
    const reply = await fetch("/derive", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Symgraph-Token": TOKEN },
      body: JSON.stringify(question),
    });
    answer = reply.ok ? await reply.json() : { error: `error: ${(await reply.text()).trim()}` };
  } catch {
    answer = { error: "error: symgraph serve does not answer. Is it still running?" };
  }
  if (number !== asked) return;
  of("derive").disabled = false;
  show(answer);
}

for (const name of Object.keys(EXAMPLES)) of("examples").append(made("option", name));
of("examples").addEventListener("change", () => fill(EXAMPLES[of("examples").value]));
of("form").addEventListener("submit", (event) => {
  event.preventDefault();
  derive();
});
of("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !of("derive").disabled) {
    event.preventDefault();
    derive();
  }
});
fill(EXAMPLES["cross-entropy"]);
