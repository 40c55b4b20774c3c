import { ENGINES } from '../collect/engines/catalogue.ts';
import type { CollectFailure } from '../core/model/collection.ts';

/** What an operator can do about a page that could not be read, in a sentence; undefined: the reason says it all. */
export function probeHint({ kind, message }: CollectFailure, path: string): string | undefined {
  switch (kind) {
    case 'refused':
      return 'Nothing listens there: is the server running, and is this its port?';
    case 'unreachable':
      return 'There is no way to that address from here.';
    case 'timeout':
      return '--timeout waits longer; the collector waits for Timeout.';
    case 'reset':
      return 'The server closed the connection: does it speak TLS there? Then the URL begins with https.';
    case 'tls':
      return 'A server without TLS has a URL that begins with http; --ca names the authority of its certificate, --insecure takes any.';
    case 'status':
      return statusHint(message);
    case 'not_metrics':
      return notMetricsHint(message, path);
    case 'metric_absent':
      return '--engine names the engine; metrics of other names go into Metrics.';
    case 'protocol':
      return 'Does it speak TLS there? Then the URL begins with https.';
    case 'credentials':
    case 'not_a_number':
    case 'too_large':
    case 'internal':
      return undefined;
  }
}

function statusHint(message: string): string | undefined {
  const status = /\d{3}/.exec(message)?.[0] ?? '';
  if (status === '401' || status === '403')
    return "It asks for credentials: --header 'NAME: VALUE' or --bearer-token-file FILE.";
  if (status === '404')
    return `Engines have their pages at ${pathsInWords()}; some have to be told to have one.`;
  if (status.startsWith('3'))
    return 'Redirects are not followed: try the path with a slash at its end, or without.';
  return undefined;
}

function notMetricsHint(message: string, path: string): string {
  if (/begins with "\\?["[{]/.test(message) && path === '/metrics')
    return 'TensorRT-LLM has JSON at /metrics and its metrics at /prometheus/metrics.';
  return `That is another page: engines have theirs at ${pathsInWords()}.`;
}

function pathsInWords(): string {
  return [...new Set(ENGINES.map(({ path }) => path))].join(', ');
}
