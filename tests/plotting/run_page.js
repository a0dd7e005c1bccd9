// Runs the script of a page over the least of a DOM that it needs, and prints what it drew, as JSON.
"use strict";
const fs = require("fs");

class Node {
  constructor(name) { this.name = name; this.children = []; this.attributes = {}; this.dataset = {}; this.style = {}; this.text = ""; }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  appendChild(child) { this.children.push(child); return child; }
  append(text) { this.text += text; }
  replaceChildren() { this.children = []; }
  addEventListener(kind, handler) { (this.handlers ??= {})[kind] = handler; }
  set textContent(text) { this.text = text; }
  get textContent() { return this.text + this.children.map(child => child.textContent).join(" "); }
  set id(value) { this.attributes.id = value; }
  get id() { return this.attributes.id; }
  remove() {}
  querySelectorAll() { return []; }
  getBoundingClientRect() { return { left: 0, width: 1000 }; }
  setPointerCapture() {}
  get offsetWidth() { return 100; }
}

const html = fs.readFileSync(process.argv[2], "utf8");
const data = html.match(/id="data">(.*?)<\/script>/s)[1];
const script = html.match(/<\/script><script>(.*?)<\/script>/s)[1];
const main = new Node("main"), body = new Node("body"), holder = new Node("script");
holder.text = data;
globalThis.innerWidth = 1000;
globalThis.document = {
  getElementById: id => id === "data" ? holder : everything().find(node => node.id === id) || null,
  querySelector: () => main,
  createElement: name => new Node(name),
  createElementNS: (space, name) => new Node(name),
  body,
};
function everything() {
  const found = [];
  (function walk(node) { found.push(node); node.children.forEach(walk); })(main);
  return found;
}
new Function(script)();

const all = everything(), dots = [];
for (const node of all.filter(node => node.name === "circle" && node.handlers)) {  // the reader clicks each dot
  for (const card of all) card.scrollIntoView = () => dots.push(card.id);
  node.handlers.click();
}
const svgs = all.filter(node => node.name === "svg");
for (const svg of svgs) {  // the reader points, turns the wheel, drags and returns
  const event = { clientX: 500, clientY: 9, deltaY: -200, pointerId: 1, target: svg, preventDefault() {} };
  for (const kind of ["pointermove", "wheel", "pointerdown", "pointermove", "pointerup", "dblclick", "pointerleave"])
    if (svg.handlers[kind]) svg.handlers[kind](event);
}
const numbers = all.flatMap(node => Object.values(node.attributes)).filter(value => /NaN|undefined|Infinity/.test(value));
console.log(JSON.stringify({
  svgs: svgs.length,
  text: main.textContent,
  bars: all.filter(node => node.dataset.tip).map(node => node.dataset.tip),
  numbers,
  dots,
}));
