/**
 * The series of a metrics page that a request wants, as Python's Prometheus client leaves them: those with the names of
 * `name[]`; without such a query the whole page.
 * @param url path and query of the request
 */
export function filterPage(page: string, url: string): string {
  const wanted = new Set(new URLSearchParams(url.split('?')[1]).getAll('name[]'));
  if (wanted.size === 0) return page;
  const lines = page.split('\n').filter((line) => wanted.has(/^(?:# \w+ )?([\w:]+)/.exec(line)?.[1] ?? ''));
  return lines.map((line) => `${line}\n`).join('');
}
