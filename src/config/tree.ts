import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import { composeDocument } from './document.ts';
import type { Lines, Position } from './lines.ts';
import { formatPath, type Mistake, type Path } from './mistake.ts';

/** Nodes that aliases may repeat, so that a small file cannot become a large configuration. */
const ALIASED_NODES_MAX = 100_000;

const NO_ANCHOR = 'the alias has no anchor before it; a value that begins with * needs quotes';

/** A value of the document and where it stands. */
export interface TreeNode {
  readonly path: Path;
  readonly at: Position;
  /** Where its key stands; the position of the value for list items and the top. */
  readonly keyAt: Position;
  /** Plain data: null, booleans, numbers, strings, arrays, objects. */
  readonly value: unknown;
  /** By key of a map or index of a list. */
  readonly children: ReadonlyMap<string | number, TreeNode>;
}

/** Takes note of a mistake: where, and what. */
export type Report = (node: TreeNode, message: string) => void;

export type Tree =
  | { readonly kind: 'tree'; readonly top: TreeNode }
  | { readonly kind: 'broken'; readonly mistakes: readonly Mistake[] };

/** The items of a list, nothing for anything else. */
export function items(node: TreeNode | undefined): readonly TreeNode[] {
  return Array.isArray(node?.value) ? [...node.children.values()] : [];
}

/** The node at `path` and whether it is there; else the deepest one that is on the way to it. */
export function find(top: TreeNode, path: Path): { readonly node: TreeNode; readonly found: boolean } {
  let node = top;
  for (const step of path) {
    const next = node.children.get(step);
    if (next === undefined) return { node, found: false };
    node = next;
  }
  return { node, found: true };
}

/**
 * Reads YAML 1.2 or JSON. A document with YAML errors, keys that are there twice or aliases that lead nowhere gives its
 * mistakes and no tree.
 */
export function parseTree(text: string, file: string): Tree {
  const composed = composeDocument(text, file);
  if (composed.kind === 'broken') return composed;
  const reader = new Reader(composed.lines, file);
  const top = reader.read(composed.contents);
  if (reader.mistakes.length > 0) return { kind: 'broken', mistakes: reader.mistakes };
  return { kind: 'tree', top };
}

/** Turns the nodes of a document into a tree, and notes what the YAML library leaves unchecked. */
class Reader {
  readonly mistakes: Mistake[] = [];
  readonly #lines: Lines;
  readonly #file: string;
  readonly #anchors = new Map<string, Node>();
  /** Nodes that are being read: an alias to one of them would never end. */
  readonly #open = new Set<Node>();
  #aliases = 0;
  #aliasedNodes = 0;
  #refusesAliases = false;

  constructor(lines: Lines, file: string) {
    this.#lines = lines;
    this.#file = file;
  }

  read(contents: Node | null): TreeNode {
    return this.#read(contents, [], this.#lines.position(0), undefined);
  }

  #report(offset: number, path: Path, message: string): void {
    this.mistakes.push({
      file: this.#file,
      ...this.#lines.position(offset),
      path: formatPath(path),
      message,
    });
  }

  #read(node: Node | null, path: Path, fallback: Position, keyAt: Position | undefined): TreeNode {
    if (isAlias(node)) return this.#follow(node.source, node.range?.[0] ?? 0, path, fallback, keyAt);
    if (this.#aliases > 0) this.#aliasedNodes += 1;
    const at = node?.range ? this.#lines.position(node.range[0]) : fallback;
    const leaf = { path, at, keyAt: keyAt ?? at };
    if (node === null) return { ...leaf, value: null, children: new Map() };
    const anchor = 'anchor' in node && typeof node.anchor === 'string' ? node.anchor : undefined;
    if (anchor !== undefined && this.#aliases === 0) this.#anchors.set(anchor, node);
    this.#open.add(node);
    const tree = this.#content(node, leaf);
    this.#open.delete(node);
    return tree;
  }

  #content(node: Node, leaf: Pick<TreeNode, 'path' | 'at' | 'keyAt'>): TreeNode {
    if (isMap(node)) return this.#map(node.items, leaf);
    if (isSeq(node)) {
      const children = node.items.map((item, index) =>
        this.#read(item as Node | null, [...leaf.path, index], leaf.at, undefined),
      );
      return { ...leaf, value: children.map((child) => child.value), children: new Map(children.entries()) };
    }
    return {
      ...leaf,
      value: isScalar(node) ? scalarValue(node.value, node.source) : null,
      children: new Map(),
    };
  }

  #map(pairs: readonly Pair[], leaf: Pick<TreeNode, 'path' | 'at' | 'keyAt'>): TreeNode {
    const children = new Map<string, TreeNode>();
    for (const pair of pairs) {
      const offset = (pair.key as Node | null)?.range?.[0] ?? 0;
      const key = isScalar(pair.key) ? pair.key.value : undefined;
      if (typeof key !== 'string') {
        this.#report(offset, leaf.path, 'a key must be a string');
        continue;
      }
      const path = [...leaf.path, key];
      const first = children.get(key);
      if (first !== undefined) {
        this.#report(offset, path, `the key is there twice, first in line ${first.keyAt.line}`);
        continue;
      }
      const at = this.#lines.position(offset);
      children.set(key, this.#read(pair.value as Node | null, path, at, at));
    }
    return { ...leaf, value: plainObject(children), children };
  }

  #follow(name: string, offset: number, path: Path, at: Position, keyAt: Position | undefined): TreeNode {
    const target = this.#anchors.get(name);
    // its name is not shown: it may be a secret that begins with a star
    if (target === undefined) this.#report(offset, path, NO_ANCHOR);
    else if (this.#open.has(target)) this.#report(offset, path, 'the alias contains itself');
    else if (this.#aliasedNodes > ALIASED_NODES_MAX) this.#refuseAliases(offset, path);
    else {
      this.#aliases += 1;
      const tree = this.#read(target, path, at, keyAt);
      this.#aliases -= 1;
      return tree;
    }
    return { path, at, keyAt: keyAt ?? at, value: null, children: new Map() };
  }

  #refuseAliases(offset: number, path: Path): void {
    if (!this.#refusesAliases)
      this.#report(offset, path, `aliases repeat more than ${ALIASED_NODES_MAX} values`);
    this.#refusesAliases = true;
  }
}

/** The plain data of a map. */
export function plainObject(children: ReadonlyMap<string, TreeNode>): object {
  return Object.fromEntries([...children].map(([key, { value }]) => [key, value]));
}

/** A number with a leading zero stays text: what is decimal here is octal for other readers of YAML. */
function scalarValue(value: unknown, source: string | undefined): unknown {
  if (typeof value !== 'number') return value;
  if (source !== undefined && /^[-+]?0\d/.test(source)) return source;
  return value === 0 ? 0 : value;
}
