"use strict";
// Draws each scene of #data as SVG: wheel or drag to zoom and move, double click to return, hover for values.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.querySelector("main");
  const tip = document.body.appendChild(document.createElement("div"));
  tip.id = "tip";
  const LEFT = 90, RIGHT = 96, WIDTH = 1000, LEVEL = 30, GAP = 14;
  const tall = curve => curve.is_stepped ? 110 : 190;

  function node(name, attributes, parent, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }
  function element(name, parent, text, kind) {
    const made = parent.appendChild(document.createElement(name));
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  // Ticks are microseconds since the epoch, or plain integers.
  function told(tick, clock, fine) {
    if (!clock.is_time) return String(Math.round(tick));
    const options = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: zone(clock) };
    if (!fine) Object.assign(options, { year: "numeric", month: "short", day: "numeric" });
    if (fine === "ms") options.fractionalSecondDigits = 3;
    return new Intl.DateTimeFormat("en-GB", options).format(new Date(tick / 1000));
  }
  function zone(clock) {
    try { new Intl.DateTimeFormat("en", { timeZone: clock.zone || "UTC" }); return clock.zone || "UTC"; }
    catch (error) { return "UTC"; }
  }
  function parts(tick, clock) {
    const options = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: zone(clock) };
    const found = {};
    for (const part of new Intl.DateTimeFormat("en-GB", options).formatToParts(new Date(tick / 1000))) found[part.type] = part.value;
    return found;
  }
  function day(tick, clock) {
    const of = parts(tick, clock);
    return `${of.year}-${of.month}-${of.day}`;
  }
  // How far the clock's zone is ahead of UTC, so that marks stand at round times of the zone.
  function ahead(tick, clock) {
    const of = parts(tick, clock);
    return (Date.UTC(of.year, of.month - 1, of.day, of.hour, of.minute, of.second) - Math.floor(tick / 1e6) * 1000) * 1000;
  }
  function beneath(from, to, clock) {
    if (!clock.is_time) return "";
    const days = [day(from, clock), day(to, clock)];
    return (days[0] === days[1] ? days[0] : days.join(" to ")) + (clock.zone ? ", " + zone(clock) : "");
  }
  function cut(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }
  const STEPS = [1e3, 1e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1.5e7, 3e7, 6e7, 1.2e8, 3e8, 6e8, 9e8, 1.8e9, 3.6e9,
    7.2e9, 1.08e10, 2.16e10, 4.32e10, 8.64e10, 1.728e11, 6.048e11, 2.592e12, 7.776e12, 3.1536e13];
  function ticks(from, to, clock) {
    let step = STEPS.find(s => (to - from) / s <= 8) || STEPS[STEPS.length - 1];
    if (!clock.is_time) {
      step = Math.pow(10, Math.floor(Math.log10(Math.max(to - from, 1))));
      while ((to - from) / step < 4 && step > 1) step /= 2;
      step = Math.max(1, step);
    }
    const found = [], shift = clock.is_time ? ahead(from, clock) : 0;
    for (let t = Math.ceil((from + shift) / step) * step - shift; t <= to; t += step) found.push(t);
    return { step, found };
  }
  function short(tick, step, clock) {
    if (!clock.is_time) return String(Math.round(tick));
    const date = new Date(tick / 1000), z = zone(clock);
    if (step >= 8.64e10) return new Intl.DateTimeFormat("en-GB", { month: "short", day: "numeric", timeZone: z }).format(date);
    const options = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: z };
    if (step < 6e7) options.second = "2-digit";
    if (step < 1e6) options.fractionalSecondDigits = 3;
    return new Intl.DateTimeFormat("en-GB", options).format(date);
  }

  function timeAxis(svg, x, view, height, clock) {
    const marks = ticks(view.from, view.to, clock);
    const dated = clock.is_time && marks.step < 8.64e10 && day(view.from, clock) !== day(view.to, clock);
    let before = null;
    for (const t of marks.found) {
      node("line", { x1: x(t), x2: x(t), y1: 0, y2: height, class: "rule" }, svg);
      node("text", { x: x(t), y: height + 14, "text-anchor": "middle" }, svg, short(t, marks.step, clock));
      if (dated && day(t, clock) !== before) {
        before = day(t, clock);
        node("text", { x: x(t), y: height + 28, "text-anchor": "middle" }, svg, short(t, 8.64e10, clock));
      }
    }
    node("text", { x: x(view.to), y: height + (dated ? 42 : 28), "text-anchor": "end" }, svg, beneath(view.from, view.to, clock));
  }

  function drawScene(svg, scene, view) {
    svg.replaceChildren();
    const x = t => LEFT + (t - view.from) / (view.to - view.from) * (WIDTH - LEFT - RIGHT);
    const clip = "c" + svg.id, levels = lane => 1 + Math.max(0, ...lane.bars.map(b => b.level));
    const total = scene.curves.reduce((n, curve) => n + tall(curve), 0) + scene.lanes.reduce((n, lane) => n + levels(lane) * LEVEL + 6, 0);
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${total + 66}`);
    const box = node("clipPath", { id: clip }, node("defs", {}, svg));
    node("rect", { x: LEFT, y: 0, width: WIDTH - LEFT - RIGHT, height: total + 24 }, box);
    const page = node("g", { transform: "translate(0,18)" }, svg);
    timeAxis(page, x, view, total, scene.clock);
    const inside = node("g", { "clip-path": `url(#${clip})` }, page);
    let top = 0;
    for (const curve of scene.curves) { drawCurve(page, inside, scene, curve, x, top); top += tall(curve); }
    for (const lane of scene.lanes) {
      node("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: top, y2: top, class: "rule" }, page);
      node("text", { x: LEFT - 10, y: top + levels(lane) * LEVEL / 2 + 8, "text-anchor": "end", class: "name" }, page, cut(lane.symbol, 11));
      node("text", { x: LEFT + 4, y: top + 11 }, page, cut(lane.label, 130));
      for (const bar of lane.bars) drawBar(inside, scene, lane, bar, x, top + bar.level * LEVEL + 14, view);
      for (const t of lane.rows)
        node("circle", { cx: x(t), cy: top + 20.5, r: 5, fill: lane.colour, stroke: "white" }, inside).dataset.tip =
          `${lane.symbol}\n${told(t, scene.clock, true)}`;
      top += levels(lane) * LEVEL + 6;
    }
    const now = x(scene.instant);
    if (scene.instant !== null && scene.instant >= view.from && scene.instant <= view.to) {
      node("line", { x1: now, x2: now, y1: -4, y2: total, class: "now" }, page);
      const late = now > WIDTH / 2;
      node("text", { x: now + (late ? -5 : 5), y: -6, "text-anchor": late ? "end" : "start", class: "now" }, page,
        "certain at " + told(scene.instant, scene.clock, true));
    }
    return { x, total };
  }

  function drawCurve(page, inside, scene, curve, x, top) {
    const numbers = curve.values.filter(v => v !== null).concat(curve.thresholds.map(t => t.value));
    if (!numbers.length) return;
    const CURVE = tall(curve);
    let low = Math.min(...numbers), high = Math.max(...numbers);
    const pad = (high - low || 1) * 0.12;
    low -= pad; high += pad;
    const y = v => top + (CURVE - GAP) * (1 - (v - low) / (high - low));
    for (const lane of scene.lanes) if (curve.symbols.includes(lane.symbol))
      for (const bar of lane.bars) if (bar.role === "match") {
        const right = x(bar.te === null ? scene.end : bar.te);
        node("rect", { x: x(bar.ts), y: top, width: Math.max(0, right - x(bar.ts)), height: CURVE - GAP, fill: lane.colour, opacity: 0.13 }, inside);
      }
    for (const line of curve.thresholds) {
      node("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(line.value), y2: y(line.value), stroke: line.colour, "stroke-dasharray": "6 4", "stroke-width": 1.4 }, page);
      node("text", { x: WIDTH - RIGHT + 5, y: y(line.value) + 4 }, page, cut(line.label, 16));
    }
    let path = "", pen = "M";
    curve.times.forEach((t, i) => {
      const v = curve.values[i];
      if (v === null || Number.isNaN(v)) { pen = "M"; return; }
      // a value holds until the next event, or rows are joined
      const at = [x(t).toFixed(1), y(v).toFixed(1)];
      path += pen === "M" ? `M${at[0]} ${at[1]}` : curve.is_stepped ? `H${at[0]}V${at[1]}` : `L${at[0]} ${at[1]}`;
      pen = "H";
    });
    node("path", { d: path, class: "curve" }, inside);
    for (const point of curve.points)
      node("circle", { cx: x(point.time), cy: y(point.value), r: 5, fill: scene.lanes.find(lane => lane.symbol === point.symbol).colour, stroke: "white" }, inside).dataset.tip =
        `${point.symbol}\n${told(point.time, scene.clock, true)}\n${curve.name} ${Number(point.value.toPrecision(5))}`;
    node("text", { x: LEFT - 10, y: top + CURVE / 2, "text-anchor": "end" }, page, cut(curve.name, 14));
    for (const v of [low + pad, high - pad])
      node("text", { x: LEFT - 10, y: y(v) + (v > (low + high) / 2 ? 4 : 2), "text-anchor": "end", opacity: 0.75 }, page, Number(v.toPrecision(3)));
  }

  function drawBar(inside, scene, lane, bar, x, top, view) {
    const open = bar.te === null, right = open ? Math.max(view.to, scene.end) : bar.te, height = 13;
    const shape = (from, to, extra) => node("rect", Object.assign({ x: x(from), y: top, width: Math.max(1, x(to) - x(from)), height, rx: 2, fill: lane.colour }, extra), inside);
    const made = [];
    if (bar.role === "refused") made.push(shape(bar.ts, right, { fill: "transparent", stroke: lane.colour, "stroke-dasharray": "3 2" }));
    else if (bar.role === "other" || lane.rows.length) made.push(shape(bar.ts, right, { opacity: 0.35 }));
    else if (scene.instant !== null && right > scene.instant && bar.ts < scene.instant) {
      made.push(shape(bar.ts, scene.instant, {}), shape(scene.instant, right, { opacity: 0.35 }));
    } else made.push(shape(bar.ts, right, {}));
    if (open) node("text", { x: x(Math.min(right, view.to)) - 12, y: top + 11, class: "name" }, inside, "▸");
    const role = { match: "in this match", other: "not in this match", refused: "too short or too long" }[bar.role];
    const span = open ? "open" : lasting(bar.te - bar.ts, scene.clock);
    for (const one of made) one.dataset.tip = `${lane.symbol}, ${role}\n${told(bar.ts, scene.clock, true)} to ${open ? "…" : told(bar.te, scene.clock, true)} (${span})`;
  }
  function lasting(ticks, clock) {
    if (!clock.is_time) return ticks + (ticks === 1 ? " tick" : " ticks");
    const s = ticks / 1e6;
    return s < 120 ? Number(s.toPrecision(6)) + " s" : s < 7200 ? Number((s / 60).toPrecision(4)) + " min" : Number((s / 3600).toPrecision(4)) + " h";
  }

  function show(event, text) {
    tip.textContent = text;
    tip.style.display = "block";
    const wide = tip.offsetWidth, x = event.clientX + 14;
    tip.style.left = (x + wide > innerWidth ? event.clientX - wide - 14 : x) + "px";
    tip.style.top = event.clientY + 12 + "px";
  }

  function sceneCard(scene, number) {
    const card = element("section", main);
    card.id = "match-" + (number + 1);
    element("h2", card, data.scenes.length > 1 ? `${number + 1}. ${scene.title}` : scene.title);
    const facts = element("div", card, undefined, "facts");
    for (const [name, value] of scene.facts) { facts.append(name + " "); element("b", facts, value); facts.append("   "); }
    const svg = node("svg", { id: "s" + number, role: "img", "aria-label": "timeline of " + scene.title }, card);
    const view = { from: scene.begin, to: scene.end };
    let state = drawScene(svg, scene, view), grip = null;
    const at = event => {
      const box = svg.getBoundingClientRect(), px = (event.clientX - box.left) / box.width * WIDTH;
      return view.from + (px - LEFT) / (WIDTH - LEFT - RIGHT) * (view.to - view.from);
    };
    const redraw = () => { state = drawScene(svg, scene, view); };
    svg.addEventListener("wheel", event => {
      event.preventDefault();
      const t = at(event), by = Math.exp(event.deltaY * 0.0015);
      view.from = t - (t - view.from) * by; view.to = t + (view.to - t) * by;
      redraw();
    }, { passive: false });
    svg.addEventListener("pointerdown", event => { grip = { x: event.clientX, from: view.from, to: view.to }; svg.setPointerCapture(event.pointerId); });
    svg.addEventListener("pointerup", () => { grip = null; });
    svg.addEventListener("dblclick", () => { view.from = scene.begin; view.to = scene.end; redraw(); });
    svg.addEventListener("pointermove", event => {
      if (grip) {
        const shift = (event.clientX - grip.x) / svg.getBoundingClientRect().width * WIDTH / (WIDTH - LEFT - RIGHT) * (grip.to - grip.from);
        view.from = grip.from - shift; view.to = grip.to - shift;
        redraw();
        return;
      }
      if (event.target.dataset && event.target.dataset.tip) return show(event, event.target.dataset.tip);
      const t = at(event);
      if (t < view.from || t > view.to) { tip.style.display = "none"; return; }
      svg.querySelectorAll(".cursor").forEach(one => one.remove());
      node("line", { x1: state.x(t), x2: state.x(t), y1: 18, y2: 18 + state.total, class: "cursor" }, svg);
      const lines = [told(t, scene.clock, "ms")];
      for (const curve of scene.curves) {
        let i = curve.times.findIndex(one => one > t);
        i = i < 0 ? curve.times.length - 1 : i - 1;
        if (i >= 0 && curve.values[i] !== null) lines.push(`${curve.name} ${Number(curve.values[i].toPrecision(5))}`);
      }
      show(event, lines.join("\n"));
    });
    svg.addEventListener("pointerleave", () => { tip.style.display = "none"; svg.querySelectorAll(".cursor").forEach(one => one.remove()); });
  }

  // Drawn after the pictures, so that each dot leads to one that is there.
  function overviewCard(card, overview) {
    element("h2", card, overview.title);
    if (overview.notes.length) element("p", card, overview.notes.join(" "));
    const ROW = 18, BARS = 80, height = BARS + 12 + ROW * overview.rows.length, LEFT = 150;
    const svg = node("svg", { viewBox: `0 0 ${WIDTH} ${height + 48}`, role: "img", "aria-label": "matches over time" }, card);
    const x = t => LEFT + (t - overview.begin) / (overview.end - overview.begin || 1) * (WIDTH - LEFT - 20);
    timeAxis(svg, x, { from: overview.begin, to: overview.end }, height, overview.clock);
    const most = Math.max(1, ...overview.counts), step = (overview.end - overview.begin) / overview.counts.length;
    overview.counts.forEach((n, i) => {
      const from = overview.begin + i * step, tall = n / most * (BARS - 10);
      const bar = node("rect", { x: x(from), y: BARS - tall, width: Math.max(1, x(from + step) - x(from) - 1), height: tall, fill: "#0072B2" }, svg);
      bar.dataset.tip = `${n} from ${told(from, overview.clock, true)}`;
    });
    node("text", { x: LEFT - 8, y: BARS, "text-anchor": "end" }, svg, "matches, at most " + most);
    overview.rows.forEach((name, i) => {
      const y = BARS + 12 + ROW * i + ROW / 2;
      node("line", { x1: LEFT, x2: WIDTH - 20, y1: y, y2: y, class: "rule" }, svg);
      node("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, svg, cut(name, 22)).dataset.tip = name;
    });
    for (const mark of overview.marks) {
      const y = BARS + 12 + ROW * mark.row + ROW / 2, at = x(mark.instant);
      const tip = `${overview.rows[mark.row]}\ncertain at ${told(mark.instant, overview.clock)}`;
      if (mark.picture === null) {
        node("line", { x1: at, x2: at, y1: y - 6, y2: y + 6, stroke: "#009E73", "stroke-width": 2 }, svg).dataset.tip = tip + "\nwithout a picture";
        continue;
      }
      const picture = document.getElementById("match-" + (mark.picture + 1));
      const dot = node("circle", { cx: at, cy: y, r: 7, fill: "#D55E00", class: picture ? "mark" : "" }, svg);
      node("text", { x: at, y: y + 3, "text-anchor": "middle", class: "number" }, svg, mark.picture + 1);
      dot.dataset.tip = tip + (picture ? "\nclick to see it" : "");
      if (picture) dot.addEventListener("click", () => picture.scrollIntoView({ behavior: "smooth" }));
    }
    svg.addEventListener("pointermove", event => event.target.dataset.tip ? show(event, event.target.dataset.tip) : (tip.style.display = "none"));
    svg.addEventListener("pointerleave", () => { tip.style.display = "none"; });
  }

  const top = data.overview && element("section", main);
  data.scenes.forEach(sceneCard);
  if (top) overviewCard(top, data.overview);
  const ofRows = data.scenes.some(scene => scene.lanes.some(lane => lane.rows.length));
  if (data.scenes.length) element("p", main, (ofRows ? "Coloured points are the rows of the match, in the colour of their variable. " :
    "Filled bars are part of the match, pale from the instant it was certain; pale bars are not part of it; " +
    "dashed ones last too short or too long. ") + "Turn the wheel to zoom, drag to move, double-click to return.", "hint");
})();
