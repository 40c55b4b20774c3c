const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * Makes text from outside fit to be logged, labelled or shown: control characters and other unprintable ones become
 * `\u{hex}`, and of a longer text at most `limit` characters are left, the last of them `…`. A character is a whole
 * code point, an escape is kept whole or dropped, and what is fit already comes back as it is.
 */
export function printable(text: string, limit = 200): string {
  let shown = '';
  let length = 0;
  let cut = '';
  for (const character of text) {
    const piece = UNPRINTABLE.test(character) ? escaped(character) : character;
    length += piece === character ? 1 : piece.length;
    if (length > limit) return `${cut}…`;
    shown += piece;
    if (length < limit) cut = shown;
  }
  return shown;
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}
