/** Longest value of a header, in characters. */
export const HEADER_VALUE_LENGTH_MAX = 8192;

/** Whether `text` can be sent as the value of a header: visible ASCII characters, spaces and tabs only between them. */
export function isHeaderValue(text: string): boolean {
  return text.length <= HEADER_VALUE_LENGTH_MAX && /^[!-~](?:[\t -~]*[!-~])?$/.test(text);
}
