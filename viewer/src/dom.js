// Elements. Text from the checked files goes in as text nodes only, so nothing in it can be markup.

/** An element: attributes by name, `on` for listeners; children are elements or become text. */
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** The same within a drawing. */
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, String(value));
    }
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

/** Characters that make text look different from what it is, by their numbers. */
function visible(text) {
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (found) => `\\u{${found.charCodeAt(0).toString(16)}}`);
}

/** Replaces what a node holds. */
function put(node, ...children) {
  node.replaceChildren();
  add(node, children);
}

/** A sentence whose parts between backticks are code. */
function rich(text) {
  return String(text).split("`").map((part, at) => (at % 2 === 1 ? el("code", {}, part) : part));
}

/** `1 step`, `2 steps`. */
function plural(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
