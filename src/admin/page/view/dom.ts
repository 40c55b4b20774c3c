type Attributes = Readonly<Record<string, string>>;
type Children = readonly (Node | string)[];

/** An element. Text from outside is to be a child or the value of `title` or `aria-…`, never that of another attribute. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Children
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Children
): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Writes only what is another text than before: that keeps selections, and costs no layout. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** undefined takes the attribute away. */
export function setAttribute(of: Element, name: string, value: string | undefined): void {
  if (value === undefined) of.removeAttribute(name);
  else if (of.getAttribute(name) !== value) of.setAttribute(name, value);
}

/** @throws when the page has no such element of this type: page and script do not fit. */
export function byId<T extends HTMLElement>(id: string, type: abstract new (...args: never[]) => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${type.name} #${id}`);
}

/** Calls `make` only when the key is another than at the call before. */
export class Memo {
  #key: string | undefined;

  update(key: string, make: () => void): void {
    if (key === this.#key) return;
    this.#key = key;
    make();
  }
}
