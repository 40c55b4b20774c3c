import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser, type YAMLError } from 'yaml';
import { printable } from '../runtime/text.ts';
import { Lines } from './lines.ts';
import type { Mistake } from './mistake.ts';

/** Levels of nesting that a document may have: a much deeper one would exhaust the stack of the YAML library. */
const NESTING_MAX = 100;

export type Composed =
  | { readonly kind: 'document'; readonly contents: ParsedNode | null; readonly lines: Lines }
  | { readonly kind: 'broken'; readonly mistakes: readonly Mistake[] };

/** Reads YAML 1.2 or JSON as one document. One that breaks a rule of YAML gives its mistakes and no contents. */
export function composeDocument(text: string, file: string): Composed {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const lines = new Lines(source);
  const parser = new Parser();
  const [first, second] = compose(source, parser);
  const broken = (offset: number, message: string): Composed => ({
    kind: 'broken',
    mistakes: [{ file, ...lines.position(offset), path: '', message }],
  });
  if (isTooDeep(parser)) return broken(parser.offset, `more than ${NESTING_MAX} levels of nesting`);
  const mistakes = first === undefined ? [] : syntaxMistakes(first, lines, file);
  if (mistakes.length > 0) return { kind: 'broken', mistakes };
  if (second !== undefined) {
    return broken(second.range[0], 'a second YAML document, but a configuration is one document');
  }
  return { kind: 'document', contents: first?.contents ?? null, lines };
}

/** At most two documents: the second is only there to be complained about. */
function compose(source: string, parser: Parser): readonly Document.Parsed[] {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
  });
  const documents: Document.Parsed[] = [];
  for (const document of composer.compose(tokens(source, parser), true, source.length)) {
    documents.push(document);
    if (documents.length === 2) break;
  }
  return documents;
}

/** The tokens of the text; none of a document that is nested too deeply, as they come at a document's end. */
function* tokens(source: string, parser: Parser): Generator<CST.Token> {
  for (const lexeme of new Lexer().lex(source)) {
    yield* parser.next(lexeme);
    if (isTooDeep(parser)) return;
  }
  yield* parser.end();
}

function isTooDeep(parser: Parser): boolean {
  return parser.stack.length > NESTING_MAX;
}

/** One mistake per line: what the YAML library finds later in a line mostly follows from the first. */
function syntaxMistakes(document: Document.Parsed, lines: Lines, file: string): readonly Mistake[] {
  const errors: readonly YAMLError[] = [...document.errors, ...document.warnings].toSorted(
    (a, b) => a.pos[0] - b.pos[0],
  );
  const tabs = errors.some((error) => error.code === 'TAB_AS_INDENT' || error.code === 'BAD_INDENT');
  const byLine = new Map<number, Mistake>();
  for (const error of errors) {
    const position = lines.position(error.pos[0]);
    if (byLine.has(position.line)) continue;
    const text = lines.textOf(position.line);
    const tab = tabs ? text.search(/(?<=^ *)\t/) : -1;
    byLine.set(
      position.line,
      tab < 0
        ? { file, ...position, path: '', message: explain(error, text) }
        : { file, line: position.line, column: tab + 1, path: '', message: TAB },
    );
  }
  return [...byLine.values()];
}

const TAB = 'a tab in the indentation, but YAML is indented by spaces';

/** Where the YAML library quotes the document; the place is told anyway, and what stands there may be a secret. */
const QUOTING = /(?<=token in YAML stream|header includes extra characters): [^]*$/;

/** What the YAML library says in words of the specification, in others. */
const PLAINLY: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^Flow sequence must end with a \]/, 'a list that [ begins is not closed'],
  [/^Flow map must end with a \}/, 'a map that { begins is not closed'],
  [
    /^Flow sequence in block collection .*/,
    'a list that [ begins is not closed before here, or this line is indented no more than its key',
  ],
  [
    /^Flow map in block collection .*/,
    'a map that { begins is not closed before here, or this line is indented no more than its key',
  ],
  [/^Unexpected flow-seq-end token in YAML stream/, 'a ] closes nothing'],
  [/^Unexpected flow-map-end token in YAML stream/, 'a } closes nothing'],
  [/^Missing closing ["']quote/, 'a text in quotes is not closed'],
  [
    /^Block collections are not allowed within flow collections/,
    'between brackets a comma is missing, or a text with a colon needs quotes',
  ],
  [
    /^Unexpected (?:double|single)-quoted-scalar at node end/,
    'a text in quotes where a comma or the end is expected',
  ],
  [/\bflow sequence\b/, 'list'],
  [/\bflow map\b/, 'map'],
];

function explain(error: YAMLError, line: string): string {
  if (error.code === 'TAG_RESOLVE_FAILED')
    return 'a tag is not supported; a value that begins with ! needs quotes';
  const unquoted = error.message.replace(QUOTING, '');
  const told = PLAINLY.reduce((text, [pattern, words]) => text.replace(pattern, words), unquoted);
  const message = printable(told, 200);
  const hint = /\[[\da-f:.]*\]:\d/i.test(line) ? '; an address in brackets needs quotes' : '';
  return `not valid YAML: ${message}${hint}`;
}
