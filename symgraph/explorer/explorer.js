
"use strict";
// The page of one graph. Data comes from the block #data and is shown as text only.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { nodes, steps, bands, groups, titles } = data;
  const find = (id) => document.getElementById(id);
  const canvas = find("canvas"), pen = canvas.getContext("2d"), panel = find("panel");
  const slider = find("slider"), search = find("find");

  const LEAF = 0, FORWARD = 1, GRADIENT = 2;
  const LANES = [{ x: 0, w: 150 }, { x: 190, w: 270 }, { x: 560, w: 270 }];
  const WIDTH = 870, ROW = 48, BOX = 38, GAP = 8, BOW = 110;
  const MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

  const state = { time: steps.length - 1, folded: new Set(), selected: null, hover: null, hits: [], found: new Set(), moved: false };
  const camera = { x: -30, y: -20, zoom: 1 };
  let colours = {}, boxes = [], boxOf = new Map(), edges = [], height = 0, waiting = false;

  // -- which nodes live, and where they stand ------------------------------------------------------
  const lives = (node, time) => node.l.some(([from, to]) => from <= time && time < to);

  function arrange() {
    const top = [];
    let y = 0, open = null;
    for (let band = 0; band < bands.length; band++) {
      const group = groups[band];
      if (group >= 0 && state.folded.has(group)) {
        if (open !== group) { top.push(y); y += ROW + GAP; open = group; }
        else top.push(y - ROW - GAP);
        continue;
      }
      open = null;
      top.push(y);
      y += bands[band] * ROW + GAP;
    }
    height = y;
    boxes = [];
    boxOf = new Map();
    const folders = new Map();
    nodes.forEach((node, index) => {
      if (!lives(node, state.time)) return;
      const [lane, band, seat] = node.at;
      const group = groups[band];
      if (group >= 0 && state.folded.has(group) && lane !== LEAF) {
        const key = group * 3 + lane;
        let box = folders.get(key);
        if (!box) {
          const name = (lane === GRADIENT ? "∂ " : "") + titles[group];
          box = { lane, x: LANES[lane].x, y: top[band], w: LANES[lane].w, group, name, inside: [] };
          folders.set(key, box);
          boxes.push(box);
        }
        box.inside.push(index);
        boxOf.set(index, box);
        return;
      }
      if (group >= 0 && state.folded.has(group)) return;
      const rows = bands[band];
      const at = lane === GRADIENT ? rows - 1 - seat : lane === FORWARD ? (rows - 1) / 2 : seat;
      const box = { lane, x: LANES[lane].x, y: top[band] + at * ROW, w: LANES[lane].w, index };
      boxes.push(box);
      boxOf.set(index, box);
    });
    boxes.sort((one, other) => one.y - other.y || one.x - other.x);
    join();
    find("fold").textContent = state.folded.size ? "Unfold" : "Fold";
    find("fold").hidden = titles.length === 0;
    document.body.dataset.step = state.time;
    document.body.dataset.live = boxes.length;
  }

  function join() {
    edges = [];
    const known = new Set();
    for (const [index, target] of boxOf) {
      for (const operand of nodes[index].in) {
        const source = boxOf.get(operand);
        if (!source || source === target) continue;
        const key = boxes.length < 4000 ? source.y + ":" + source.x + ":" + target.y + ":" + target.x : null;
        if (key !== null) { if (known.has(key)) continue; known.add(key); }
        edges.push({ source, target });
      }
    }
    const rank = new Map();
    const seen = [0, 0, 0];
    for (const box of boxes) rank.set(box, seen[box.lane]++);
    for (const edge of edges) edge.near = Math.abs(rank.get(edge.source) - rank.get(edge.target)) === 1;
  }

  // -- drawing -------------------------------------------------------------------------------------
  const screen = (x, y) => [(x - camera.x) * camera.zoom, (y - camera.y) * camera.zoom];

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ground", "text", "quiet", "edge", "strong", "mark", "forward", "gradient",
      "input", "parameter", "constant", "forward-edge", "gradient-edge", "input-edge", "parameter-edge",
      "constant-edge"]) {
      colours[name] = style.getPropertyValue("--" + name).trim();
    }
  }

  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    const wide = canvas.clientWidth, high = canvas.clientHeight;
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(high * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, wide, high);
    pen.setTransform(ratio * camera.zoom, 0, 0, ratio * camera.zoom,
      -camera.x * camera.zoom * ratio, -camera.y * camera.zoom * ratio);
    const view = { top: camera.y - 60, bottom: camera.y + high / camera.zoom + 60 };
    heads(view);
    const focus = state.selected !== null ? boxOf.get(state.selected) : state.hover;
    if (camera.zoom < 0.25) hints(view);
    else for (const edge of edges) if (!touches(edge, focus)) drawEdge(edge, view, false);
    for (const edge of edges) if (touches(edge, focus)) drawEdge(edge, view, true);
    for (const box of boxes) if (box.y + BOX > view.top && box.y < view.bottom) drawBox(box);
  }

  const touches = (edge, box) => box && (edge.source === box || edge.target === box);

  function heads(view) {
    if (view.top > 0 || camera.zoom < 0.3) return;
    pen.fillStyle = colours.quiet;
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "left";
    const told = ["inputs", "forward, downwards", "gradient, upwards"];
    const used = new Set(boxes.map((box) => box.lane));
    told.forEach((text, lane) => { if (used.has(lane)) pen.fillText(text, LANES[lane].x, -12); });
  }

  function hints(view) {
    // From far away: all edges as straight lines in one stroke.
    pen.strokeStyle = colours.edge;
    pen.lineWidth = 0.6 / camera.zoom;
    pen.globalAlpha = 0.35;
    pen.beginPath();
    for (const { source, target } of edges) {
      const low = Math.min(source.y, target.y), high = Math.max(source.y, target.y) + BOX;
      if (high < view.top || low > view.bottom || high - low > 12 * ROW) continue;
      if (source.lane === LEAF && target.lane === GRADIENT) continue;
      pen.moveTo(source.x + source.w / 2, source.y + BOX / 2);
      pen.lineTo(target.x + target.w / 2, target.y + BOX / 2);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  function drawEdge({ source, target, near }, view, strong) {
    const low = Math.min(source.y, target.y), high = Math.max(source.y, target.y) + BOX;
    if (high < view.top || low > view.bottom) return;
    const far = high - low > 12 * ROW;
    // Far edges are faint, and inputs of the gradient are drawn when one of both is chosen.
    if (!strong && source.lane === LEAF && target.lane === GRADIENT) return;
    pen.globalAlpha = strong ? 1 : far ? 0.28 : 0.75;
    pen.strokeStyle = strong ? colours.strong : colours.edge;
    pen.lineWidth = strong ? 2 : 1.2;
    pen.setLineDash(source.lane === FORWARD && target.lane === GRADIENT ? [5, 3] : []);
    pen.beginPath();
    let x, y, angle;
    if (source.lane === target.lane && near) {
      const down = target.y > source.y;
      x = target.x + target.w / 2;
      y = down ? target.y : target.y + BOX;
      angle = down ? Math.PI / 2 : -Math.PI / 2;
      pen.moveTo(x, down ? source.y + BOX : source.y);
      pen.lineTo(x, y);
    } else if (source.lane === target.lane) {
      const out = source.lane === FORWARD ? -1 : 1;
      const side = out < 0 ? source.x : source.x + source.w;
      const bow = side + out * Math.min(out < 0 ? 34 : BOW, 14 + Math.abs(target.y - source.y) / 9);
      const start = source.y + BOX * (target.y > source.y ? 0.7 : 0.3);
      y = target.y + BOX * (target.y > source.y ? 0.3 : 0.7);
      x = side;
      angle = out < 0 ? 0 : Math.PI;
      pen.moveTo(side, start);
      pen.bezierCurveTo(bow, start, bow, y, x, y);
    } else {
      const right = target.x > source.x;
      const start = right ? source.x + source.w : source.x;
      x = right ? target.x : target.x + target.w;
      y = target.y + BOX / 2;
      angle = right ? 0 : Math.PI;
      const middle = (start + x) / 2;
      pen.moveTo(start, source.y + BOX / 2);
      pen.bezierCurveTo(middle, source.y + BOX / 2, middle, y, x, y);
    }
    pen.stroke();
    pen.setLineDash([]);
    if (camera.zoom > 0.3) {
      pen.fillStyle = pen.strokeStyle;
      pen.beginPath();
      for (const [along, across] of [[0, 0], [-7, -3.6], [-7, 3.6]]) {
        pen.lineTo(x + along * Math.cos(angle) - across * Math.sin(angle),
          y + along * Math.sin(angle) + across * Math.cos(angle));
      }
      pen.fill();
    }
    pen.globalAlpha = 1;
  }

  const kindOf = (box) => box.group !== undefined
    ? (box.lane === GRADIENT ? "gradient" : "forward") : nodes[box.index].k;

  const isGiven = (kind) => kind === "input" || kind === "parameter";

  function outline(kind, x, y, w, h) {
    pen.beginPath();
    if (kind === "constant") {
      pen.moveTo(x + 9, y); pen.lineTo(x + w - 9, y); pen.lineTo(x + w, y + h / 2);
      pen.lineTo(x + w - 9, y + h); pen.lineTo(x + 9, y + h); pen.lineTo(x, y + h / 2);
      pen.closePath();
    } else {
      pen.roundRect(x, y, w, h, isGiven(kind) ? h / 2 : kind === "forward" ? 9 : 1);
    }
  }

  function drawBox(box) {
    const kind = kindOf(box);
    const colour = kind === "recomputed" ? "gradient" : kind;
    const chosen = box.index !== undefined && box.index === state.selected;
    const hit = box.index !== undefined && state.found.has(box.index);
    if (camera.zoom < 0.25) {
      pen.fillStyle = chosen ? colours.strong : hit ? colours.mark : colours[colour + "-edge"];
      pen.fillRect(box.x, box.y, box.w, BOX);
      return;
    }
    if (box.group !== undefined) {
      pen.fillStyle = colours[colour];
      pen.strokeStyle = colours[colour + "-edge"];
      outline(kind, box.x + 4, box.y + 4, box.w, BOX);
      pen.fill(); pen.stroke();
    }
    // The value that the step of this moment has put here.
    const fresh = box.index !== undefined && nodes[box.index].s === steps[state.time].s;
    outline(kind, box.x, box.y, box.w, BOX);
    pen.fillStyle = hit ? colours.mark : colours[colour];
    pen.fill();
    pen.strokeStyle = chosen || fresh ? colours.strong : colours[colour + "-edge"];
    pen.lineWidth = chosen ? 3 : fresh || kind === "parameter" ? 2.4 : 1.3;
    pen.setLineDash(kind === "recomputed" ? [5, 3] : []);
    pen.stroke();
    pen.setLineDash([]);
    if (camera.zoom < 0.4) return;
    const room = box.w - 20;
    const inset = isGiven(kind) || kind === "constant" ? 16 : 10;
    if (box.group !== undefined) {
      write(box.name, box.x + inset, box.y + 16, "600 12px " + MONO, colours.text, room);
      const told = box.inside.length + (box.inside.length === 1 ? " value" : " values");
      write(told, box.x + inset, box.y + 31, "10.5px " + MONO, colours.quiet, room);
      return;
    }
    const node = nodes[box.index];
    const leaf = node.in.length === 0;
    const used = write(node.n, box.x + inset, box.y + 16, "700 12px " + MONO, colours.text, room - inset);
    if (!leaf) write(" = " + node.e, box.x + inset + used, box.y + 16, "12px " + MONO, colours.text, room - used);
    const place = node.out ? "→ " + node.out.join(", ") : leaf ? "" : node.where || "";
    let spare = room - (leaf ? inset : 0);
    if (place) {
      pen.font = (node.out ? "700 " : "") + "10.5px " + MONO;
      const text = cut(place, spare * 0.55);
      pen.fillStyle = node.out ? colours.text : colours.quiet;
      pen.textAlign = "right";
      pen.fillText(text, box.x + box.w - 10, box.y + 31);
      spare -= pen.measureText(text).width + 8;
    }
    write(node.type, box.x + inset, box.y + 31, "10.5px " + MONO, colours.quiet, spare);
  }

  function cut(text, room) {
    if (pen.measureText(text).width <= room) return text;
    const each = pen.measureText("m").width;
    return text.slice(0, Math.max(Math.floor(room / each) - 1, 0)) + "…";
  }

  function write(text, x, y, font, colour, room) {
    if (room <= 0) return 0;
    pen.font = font;
    pen.fillStyle = colour;
    pen.textAlign = "left";
    const shown = cut(text, room);
    pen.fillText(shown, x, y);
    return pen.measureText(shown).width;
  }

  // -- the panel -----------------------------------------------------------------------------------
  function make(tag, text, ...inside) {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    element.append(...inside);
    return element;
  }

  function told(list, name, text) {
    if (text === undefined || text === "" || text === null) return;
    list.append(make("dt", name), make("dd", String(text)));
  }

  function goTo(time) {
    const button = make("button", time + ". " + steps[time].what);
    button.type = "button";
    button.addEventListener("click", () => setTime(time));
    return button;
  }

  function showNode(index) {
    const node = nodes[index];
    panel.replaceChildren(make("h2", node.in.length ? node.n + " = " + node.e : node.n));
    const list = make("dl");
    told(list, "operation", node.op);
    told(list, "type", node.type);
    told(list, "role", node.k);
    told(list, "output", node.out && node.out.join(", "));
    told(list, "flops", node.flops);
    told(list, "bytes", node.bytes);
    told(list, "live", node.live && "step " + node.live[0] + " to " + node.live[1] + " of the run");
    told(list, "made by", node.rule || (node.adjoint ? "the chain rule" : ""));
    panel.append(list);
    if (node.lines) {
      panel.append(make("h3", "Your line"));
      for (const line of node.lines) panel.append(make("pre", line));
    }
    if (node.v) showValue(node.v);
    if (node.facts) {
      panel.append(make("h3", "Facts"));
      for (const [fact, why] of node.facts) {
        panel.append(make("details", "", make("summary", fact), make("pre", why)));
      }
    }
    const chain = steps.map((step, time) => time).filter((time) => steps[time].s === node.s && steps[time].step);
    if (chain.length) {
      panel.append(make("h3", "Rewritten at this place"));
      for (const time of chain) panel.append(goTo(time));
    }
    links("Operands", node.in);
    links("Used by", [...boxOf.keys()].filter((each) => nodes[each].in.includes(index)));
  }

  function links(title, indices) {
    if (!indices.length) return;
    panel.append(make("h3", title));
    for (const index of indices.slice(0, 30)) {
      const node = nodes[index];
      const button = make("button", node.in.length ? node.n + " = " + node.e : node.n);
      button.type = "button";
      button.addEventListener("click", () => select(index, true));
      panel.append(button);
    }
  }

  function showValue(value) {
    panel.append(make("h3", "Value of the run"));
    const list = make("dl");
    told(list, "shape", "(" + value.shape.join(", ") + ")");
    for (const name of ["min", "max", "mean", "std", "true"]) told(list, name, value[name]);
    if (value.nan) told(list, "NaN", value.nan);
    if (value.inf) told(list, "infinite", value.inf);
    panel.append(list);
    if (value.full) panel.append(make("pre", value.full));
  }

  function showStep() {
    const moment = steps[state.time];
    panel.replaceChildren(make("h2", moment.what));
    const step = moment.step;
    if (step) {
      panel.append(make("pre", step.before + "\n→ " + step.after));
      const list = make("dl");
      told(list, "grade", step.grade);
      told(list, "at", step.where);
      panel.append(list);
      if (step.statement) panel.append(make("h3", "Rule"), make("pre", step.statement));
      if (step.identities) panel.append(make("h3", "Identities"), make("pre", step.identities.join("\n")));
      for (const [guard, why] of step.licences || []) {
        panel.append(make("details", "", make("summary", "needs " + guard), make("pre", why)));
      }
    } else if (moment.count) {
      panel.append(make("p", moment.count + " rewrites"));
    }
    panel.append(make("h3", "Key"));
    const key = make("div");
    key.className = "key";
    for (const kind of ["input", "parameter", "constant", "forward", "gradient", "recomputed"]) {
      const swatch = make("span");
      swatch.className = "swatch " + kind;
      key.append(swatch, make("span", kind));
    }
    panel.append(key, make("h3", "Keys"), make("pre",
      "← →  step of the derivation\n↑ ↓  next value\n/  find, Enter  next hit\nf  fold, 0  fit, + −  zoom\nEnter  open a group\nEsc  let go"));
  }

  const show = () => state.selected !== null ? showNode(state.selected) : showStep();

  // -- what the user does --------------------------------------------------------------------------
  function setTime(time) {
    state.time = Math.min(Math.max(time, 0), steps.length - 1);
    slider.value = state.time;
    const moment = steps[state.time];
    const step = moment.step;
    find("step").textContent = state.time + " / " + (steps.length - 1) + "  " + moment.what
      + (step ? ":  " + step.before + "  →  " + step.after : "");
    const place = state.selected === null ? null : nodes[state.selected].s;
    arrange();
    if (place !== null && !boxOf.has(state.selected)) {
      // The value at the same place, if there is one now.
      const heir = [...boxOf.keys()].find((index) => nodes[index].s === place);
      state.selected = heir === undefined ? null : heir;
    }
    look();
    mark();
    show();
    redraw();
  }

  function mark() {
    if (state.selected === null) delete document.body.dataset.selected;
    else document.body.dataset.selected = nodes[state.selected].n;
  }

  function select(index, centred) {
    state.selected = index;
    if (index !== null) {
      const group = groups[nodes[index].at[1]];
      if (state.folded.has(group)) { state.folded.delete(group); arrange(); }
      if (!boxOf.has(index) && nodes[index].l.length) { setTime(nodes[index].l[0][0]); }
      if (centred) centre(boxOf.get(index));
    }
    mark();
    show();
    redraw();
  }

  function centre(box) {
    if (!box) return;
    state.moved = true;
    camera.zoom = Math.max(camera.zoom, 0.7);
    camera.x = Math.min(box.x + box.w / 2 - canvas.clientWidth / camera.zoom / 2, box.x - 20);
    if (WIDTH * camera.zoom <= canvas.clientWidth) camera.x = (WIDTH - canvas.clientWidth / camera.zoom) / 2;
    camera.y = box.y - canvas.clientHeight / camera.zoom / 2;
  }

  function span() {
    // The x of the lanes that are in use.
    const from = Math.min(...boxes.map((box) => box.x)), to = Math.max(...boxes.map((box) => box.x + box.w));
    // Long edges of the gradient bow out to the right.
    const bow = boxes.some((box) => box.lane === GRADIENT) ? BOW - 40 : 0;
    return [boxes.length ? from : 0, boxes.length ? to + bow : WIDTH];
  }

  function fit(whole) {
    const wide = canvas.clientWidth, high = canvas.clientHeight;
    const [from, to] = boxes.length < 60000 ? span() : [0, WIDTH];
    const across = wide / (to - from + 110), down = high / (height + 60);
    camera.zoom = Math.min(whole ? Math.min(across, down) : across, 1.25);
    if (!whole && down > 0.6) camera.zoom = Math.min(across, Math.max(down, 0.6), 1.25);
    camera.x = (from + to) / 2 - wide / camera.zoom / 2;
    camera.y = height * camera.zoom < high ? height / 2 - high / camera.zoom / 2 : -40;
    redraw();
  }

  function toggleAll() {
    if (state.folded.size) state.folded.clear();
    else titles.forEach((_, group) => state.folded.add(group));
    arrange();
    fit(false);
  }

  function toggle(group) {
    if (state.folded.has(group)) state.folded.delete(group);
    else state.folded.add(group);
    arrange();
    redraw();
  }

  function look() {
    const words = search.value.trim().toLowerCase();
    state.hits = [];
    if (words) {
      nodes.forEach((node, index) => {
        if (!lives(node, state.time)) return;
        const text = [node.n, node.e, node.op, node.type, ...(node.out || []), ...(node.lines || [])];
        if (text.some((each) => each.toLowerCase().includes(words))) state.hits.push(index);
      });
    }
    state.found = new Set(state.hits);
    find("hits").textContent = words ? state.hits.length + (state.hits.length === 1 ? " hit" : " hits") : "";
  }

  function nextHit() {
    if (!state.hits.length) return;
    const at = state.hits.indexOf(state.selected);
    select(state.hits[(at + 1) % state.hits.length], true);
  }

  function move(by) {
    const own = boxOf.get(state.selected);
    const column = boxes.filter((box) => box.index !== undefined && (!own || box.lane === own.lane));
    if (!column.length) return;
    const at = own ? column.indexOf(own) + by : 0;
    if (column[at]) select(column[at].index, true);
  }

  function boxAt(event) {
    const area = canvas.getBoundingClientRect();
    const x = (event.clientX - area.left) / camera.zoom + camera.x;
    const y = (event.clientY - area.top) / camera.zoom + camera.y;
    return boxes.find((box) => box.x <= x && x <= box.x + box.w && box.y <= y && y <= box.y + BOX) || null;
  }

  function zoom(factor, x, y) {
    const wanted = Math.min(Math.max(camera.zoom * factor, 0.03), 3);
    camera.x += x / camera.zoom - x / wanted;
    camera.y += y / camera.zoom - y / wanted;
    camera.zoom = wanted;
    redraw();
  }

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) {
      const over = boxAt(event);
      if (over !== state.hover) { state.hover = over; redraw(); }
      return;
    }
    const dx = event.clientX - held.x, dy = event.clientY - held.y;
    if (!held.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
    held = { x: event.clientX, y: event.clientY, moved: true };
    state.moved = true;
    camera.x -= dx / camera.zoom;
    camera.y -= dy / camera.zoom;
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held && !held.moved) {
      const box = boxAt(event);
      if (box && box.group !== undefined) toggle(box.group);
      else select(box ? box.index : null, false);
    }
    held = null;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    state.moved = true;
    if (event.ctrlKey || event.metaKey) {
      const area = canvas.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 300), event.clientX - area.left, event.clientY - area.top);
    } else {
      camera.x += event.deltaX / camera.zoom;
      camera.y += event.deltaY / camera.zoom;
      redraw();
    }
  }, { passive: false });

  slider.max = steps.length - 1;
  slider.addEventListener("input", () => setTime(Number(slider.value)));
  find("back").addEventListener("click", () => setTime(state.time - 1));
  find("next").addEventListener("click", () => setTime(state.time + 1));
  find("fold").addEventListener("click", toggleAll);
  find("fit").addEventListener("click", () => fit(true));
  search.addEventListener("input", () => { look(); redraw(); });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === search;
    if (event.key === "Escape") {
      search.value = "";
      look();
      canvas.focus();
      select(null, false);
    } else if (typing) {
      if (event.key === "Enter") nextHit();
      return;
    } else if (event.key === "/") {
      search.focus();
      search.select();
    } else if (event.key === "ArrowLeft") setTime(state.time - 1);
    else if (event.key === "ArrowRight") setTime(state.time + 1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "ArrowDown") move(1);
    else if (event.key === "Home") setTime(0);
    else if (event.key === "End") setTime(steps.length - 1);
    else if (event.key === "f" && titles.length) toggleAll();
    else if (event.key === "0") fit(true);
    else if (event.key === "+" || event.key === "-") {
      zoom(event.key === "+" ? 1.25 : 0.8, canvas.clientWidth / 2, canvas.clientHeight / 2);
    } else if (event.key === "Enter" && event.target === canvas) {
      if (state.selected !== null) { centre(boxOf.get(state.selected)); redraw(); }
      else if (state.hover && state.hover.group !== undefined) toggle(state.hover.group);
    } else return;
    event.preventDefault();
  });

  // -- start ---------------------------------------------------------------------------------------
  find("title").textContent = data.title;
  find("title").title = data.title;
  find("about").textContent = data.about;
  readColours();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); redraw(); });
  titles.forEach((_, group) => state.folded.add(group));
  setTime(state.time);
  fit(false);
  // Until the user moves the view it follows the size of the window.
  new ResizeObserver(() => { if (state.moved) redraw(); else fit(false); }).observe(canvas);
  // What is drawn on the canvas, for tests and for programs that read the page.
  window.explorer = {
    boxes: () => boxes.map((box) => {
      const [x, y] = screen(box.x, box.y);
      const node = box.index === undefined ? null : nodes[box.index];
      return { name: node ? node.n : box.name, kind: kindOf(box), folded: !node, x, y,
        width: box.w * camera.zoom, height: BOX * camera.zoom, place: node ? node.s : null };
    }),
    draw,
  };
})();
