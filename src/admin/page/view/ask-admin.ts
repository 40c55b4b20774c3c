/**
 * Asks the admin address that the page came from. What the browser was told to get the page with, it also sends here.
 * @param path relative to the page, so that it also works behind a proxy that puts something in front
 */
export function askAdmin(path: string, signal: AbortSignal): Promise<Response> {
  return fetch(path, { signal, cache: 'no-store', credentials: 'same-origin', redirect: 'error' });
}
