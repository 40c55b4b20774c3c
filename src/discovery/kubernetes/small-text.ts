import { readSmallFile } from '../../runtime/small-file.ts';
import { printable } from '../../runtime/text.ts';

/**
 * What is in a file of at most 1 MiB.
 * @throws Error `PATH cannot be read: …`
 */
export async function readText(path: string): Promise<string> {
  const read = readSmallFile(path).catch((error: unknown) => {
    throw new Error(`${printable(path)} ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  });
  return (await read).toString('utf8');
}

/**
 * The token that a file holds. White space around it is not part of it.
 * @throws Error when it holds none.
 */
export async function readToken(path: string): Promise<string> {
  return checkedToken(await readText(path), printable(path));
}

/**
 * A token that can stand in a header.
 * @param where what holds it, for the error
 * @throws Error when it cannot.
 */
export function checkedToken(text: string, where: string): string {
  const token = text.trim();
  if (/^[!-~]{1,65536}$/.test(token)) return token;
  throw new Error(`${where} must hold a token of visible ASCII characters, no space`);
}
