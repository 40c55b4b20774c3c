/** A text as one word of a shell's command line, quoted where a shell would take it for anything else. */
export function shellWord(text: string): string {
  return /^[\w.:@%+=,/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
