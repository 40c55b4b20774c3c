import { skipBlanks } from './line-finder.ts';

/** Longer lines are taken for broken ones. */
const LINE_BYTES_MAX = 16 * 1024;
const TEXT_BYTES_MAX = 64;

const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const NUMBER_SIGN = 0x23;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/**
 * One line of a wanted name. A timestamp and an exemplar are checked and passed over. Text is decoded only when it is
 * asked for.
 */
export class Series {
  /** NaN also when the line breaks the format. */
  readonly value: number;
  readonly #page: Buffer;
  readonly #textStart: number;
  readonly #textEnd: number;
  readonly #labelsStart: number;
  readonly #labelsEnd: number;

  /** Reads a line from `start`, the first byte behind its name, to `end`, its newline or the end of the page. */
  constructor(page: Buffer, start: number, end: number) {
    this.#page = page;
    // one that is too long is not looked at any further
    const open = end - start > LINE_BYTES_MAX ? end : skipBlanks(page, start);
    const close = open < end && page[open] === BRACE_OPEN ? endOfLabels(page, open + 1, end) : open;
    const from = skipBlanks(page, close ?? end);
    const to = endOfToken(page, from, end);
    const broken = from === to || !isRest(page, to, end);
    this.value = broken ? Number.NaN : readNumber(page, from, to);
    this.#textStart = broken ? start : from;
    this.#textEnd = broken ? end : to;
    this.#labelsStart = open;
    this.#labelsEnd = broken ? open : (close ?? open);
  }

  /** The value as the page has it, or what follows the name in a line that breaks the format; cut to 64 bytes. */
  get text(): string {
    const end = Math.min(this.#textEnd, this.#textStart + TEXT_BYTES_MAX);
    return this.#page.toString('utf8', this.#textStart, end).trim();
  }

  /** The labels as they stand on the page, in braces; empty: there are none, or the line breaks the format. */
  get labelText(): string {
    return this.#page.toString('latin1', this.#labelsStart, this.#labelsEnd);
  }

  /** Whether another series of the same page has the same {@link labelText}. */
  repeats(other: Series): boolean {
    const length = this.#labelsEnd - this.#labelsStart;
    if (other.#labelsEnd - other.#labelsStart !== length) return false;
    return (
      this.#page.compare(
        this.#page,
        other.#labelsStart,
        other.#labelsEnd,
        this.#labelsStart,
        this.#labelsEnd,
      ) === 0
    );
  }

  /** The value of one label, escapes undone; empty: it is not there. */
  label(wanted: string): string {
    const page = this.#page;
    const end = this.#labelsEnd;
    let at = this.#labelsStart === end ? end : skipBlanks(page, this.#labelsStart + 1);
    while (at < end && page[at] !== BRACE_CLOSE) {
      const nameEnd = endOfName(page, at, end);
      const quote = skipBlanks(page, skipBlanks(page, nameEnd) + 1);
      const close = endOfString(page, quote, end);
      if (isName(page, at, nameEnd, wanted)) return unescape(page.toString('utf8', quote + 1, close - 1));
      at = skipBlanks(page, close);
      if (page[at] === COMMA) at = skipBlanks(page, at + 1);
    }
    return '';
  }

  /** Escapes undone; empty in a line that breaks the format. */
  get labels(): ReadonlyMap<string, string> {
    return decodeLabels(this.#page.toString('utf8', this.#labelsStart, this.#labelsEnd));
  }
}

/** @returns the first byte behind the brace that closes the labels which begin at `start`; undefined: broken. */
function endOfLabels(page: Buffer, start: number, end: number): number | undefined {
  let at = skipBlanks(page, start);
  while (page[at] !== BRACE_CLOSE) {
    const name = at;
    at = endOfName(page, at, end);
    const equals = skipBlanks(page, at);
    const quote = skipBlanks(page, equals + 1);
    if (at === name || at > end || page[equals] !== EQUALS || page[quote] !== QUOTE) return undefined;
    const close = endOfString(page, quote, end);
    if (close > end) return undefined;
    at = skipBlanks(page, close);
    if (page[at] === COMMA) at = skipBlanks(page, at + 1);
    else if (page[at] !== BRACE_CLOSE) return undefined;
  }
  return at + 1;
}

/** @returns the first byte behind the name of a label; a quoted one may have any bytes. */
function endOfName(page: Buffer, start: number, end: number): number {
  if (page[start] === QUOTE) return endOfString(page, start, end);
  let at = start;
  while (isLabelByte(page[at])) at++;
  return at;
}

/** Whether a name of ASCII letters stands there, in quotes or not. */
function isName(page: Buffer, start: number, end: number, wanted: string): boolean {
  const quotes = page[start] === QUOTE ? 1 : 0;
  if (end - start - 2 * quotes !== wanted.length) return false;
  for (let i = 0; i < wanted.length; i++) {
    if (page[start + quotes + i] !== wanted.charCodeAt(i)) return false;
  }
  return true;
}

/** @returns the first byte behind the quote that closes the string which `quote` opens, or one beyond `end`. */
function endOfString(page: Buffer, quote: number, end: number): number {
  let at = quote + 1;
  while (at < end && page[at] !== QUOTE) at += page[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** `[a-zA-Z0-9_]` */
function isLabelByte(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f;
}

function endOfToken(page: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && !isBlank(page[at])) at++;
  return at;
}

/** Whether nothing but blanks, at most one timestamp and, behind a number sign, an exemplar stands between the two. */
function isRest(page: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && isBlank(page[at])) at++;
  if (at < end && page[at] === MINUS) at++;
  while (at < end && isDigit(page[at])) at++;
  // OpenMetrics has seconds with a fraction where others have milliseconds
  if (at < end && page[at] === POINT) at++;
  while (at < end && isDigit(page[at])) at++;
  while (at < end && isBlank(page[at])) at++;
  return at === end || page[at] === NUMBER_SIGN;
}

/** A carriage return is one too: it stands before the newline of a page with CRLF. */
function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN;
}

function isDigit(byte: number | undefined): byte is number {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

const LABEL = /(?:([a-zA-Z0-9_]+)|"([^"\\]*(?:\\[^][^"\\]*)*)")[ \t]*=[ \t]*"([^"\\]*(?:\\[^][^"\\]*)*)"/g;

function decodeLabels(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const [, name, quoted = '', value = ''] of text.matchAll(LABEL)) {
    labels.set(name ?? unescape(quoted), unescape(value));
  }
  return labels;
}

/** `\\`, `\"` and `\n`; a backslash before anything else stands for itself. */
function unescape(value: string): string {
  if (!value.includes('\\')) return value;
  return value.replace(/\\([\\"n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const INFINITE = /^[+-]?inf(?:inity)?$/i;

/** A number as Go's ParseFloat reads it, but for hexadecimal ones and underscores; NaN for anything else. */
function readNumber(page: Buffer, start: number, end: number): number {
  const plain = readPlain(page, start, end);
  if (plain !== undefined) return plain;
  const text = page.toString('latin1', start, end);
  if (DECIMAL.test(text)) return Number(text);
  if (INFINITE.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return Number.NaN;
}

/**
 * The usual number, digits with or without a fraction, read without a string. Up to 15 digits: both the digits and
 * the power of ten are exact then, so that their quotient is rounded once, as it is in `Number()`.
 */
function readPlain(page: Buffer, start: number, end: number): number | undefined {
  if (end - start > 15) return undefined;
  let digits = 0;
  let scale = 0;
  for (let at = start; at < end; at++) {
    const byte = page[at];
    if (isDigit(byte)) {
      digits = digits * 10 + (byte - 0x30);
      scale *= 10;
    } else if (byte === POINT && scale === 0 && at > start) scale = 1;
    else return undefined;
  }
  return scale === 0 ? digits : digits / scale;
}
