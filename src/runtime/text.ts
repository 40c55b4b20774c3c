/**
 * Makes text from outside fit to be logged, labelled or shown: control characters and other unprintable ones become
 * `\u{hex}`, and what is beyond `limit` characters is cut and marked by `…`.
 */
export function printable(text: string, limit = 200): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut.replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
