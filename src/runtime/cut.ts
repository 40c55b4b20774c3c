/** At most `columns` visible characters of a line; ANSI colours take no room and are always closed. */
export function cut(line: string, columns: number): string {
  let visible = 0;
  let text = '';
  for (const [part] of line.matchAll(/\u001b\[\d+m|./gu)) {
    if (part.startsWith('\u001b')) text += part;
    else if (visible++ < columns) text += part;
  }
  return text;
}
