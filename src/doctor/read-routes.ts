import { printable } from '../runtime/text.ts';
import { at, isSet, listAt, numberAt, secondsAt, textAt, typeAt } from './json.ts';
import type { ManagerView, MapperView, RetryView, RouteView } from './view.ts';

/** The HTTP connection managers of a listener. @param routesOf the route configuration of a name, where it is known */
export function readManagers(listener: unknown, routesOf: (name: string) => unknown): readonly ManagerView[] {
  return [...listAt(listener, 'filter_chains'), at(listener, 'default_filter_chain')]
    .flatMap((chain) => listAt(chain, 'filters'))
    .map((filter) => at(filter, 'typed_config'))
    .filter((config) => typeAt(config) === 'HttpConnectionManager')
    .map((config) => readManager(config, textAt(listener, 'name') ?? '(no name)', routesOf));
}

function readManager(config: unknown, listener: string, routesOf: (name: string) => unknown): ManagerView {
  const routes = at(config, 'route_config') ?? routesOf(textAt(config, 'rds', 'route_config_name') ?? '');
  return {
    listener,
    streamIdleTimeout: secondsAt(config, 'stream_idle_timeout'),
    maxStreamDuration: secondsAt(config, 'common_http_protocol_options', 'max_stream_duration'),
    mappers: listAt(config, 'local_reply_config', 'mappers').map(readMapper),
    sessions: readSessions(config),
    routes: routes === undefined ? undefined : readRoutes(routes),
  };
}

function readSessions(config: unknown): ManagerView['sessions'] {
  const filter = listAt(config, 'http_filters').find(
    (one) => typeAt(one, 'typed_config') === 'StatefulSession',
  );
  return filter === undefined ? undefined : { strict: at(filter, 'typed_config', 'strict') === true };
}

/** Characters of each part of a route's name. */
const NAME_MAX = 100;

function readRoutes(config: unknown): readonly RouteView[] {
  const name = textAt(config, 'name') ?? '';
  return listAt(config, 'virtual_hosts').flatMap((host) =>
    listAt(host, 'routes')
      .filter((route) => isSet(route, 'route'))
      .map((route) => readRoute(route, host, name)),
  );
}

function readRoute(route: unknown, host: unknown, config: string): RouteView {
  const action = at(route, 'route');
  const retries = at(action, 'retry_policy') ?? at(host, 'retry_policy');
  const cluster = textAt(action, 'cluster');
  return {
    name: [config, textAt(host, 'name') ?? '', matchOf(route)]
      .filter((part) => part !== '')
      .map((part) => printable(part, NAME_MAX))
      .join(' / '),
    clusters:
      cluster === undefined
        ? listAt(action, 'weighted_clusters', 'clusters').flatMap((one) => textAt(one, 'name') ?? [])
        : [cluster],
    timeout: secondsAt(action, 'timeout'),
    idleTimeout: secondsAt(action, 'idle_timeout'),
    maxStreamDuration: secondsAt(action, 'max_stream_duration', 'max_stream_duration'),
    retries: retries === undefined ? undefined : retriesOf(retries),
  };
}

/** `prefix /`, or what else the route is for. */
function matchOf(route: unknown): string {
  for (const kind of ['prefix', 'path', 'path_separated_prefix']) {
    const text = textAt(route, 'match', kind);
    if (text !== undefined) return `${kind} ${text}`;
  }
  const regex = textAt(route, 'match', 'safe_regex', 'regex');
  return regex === undefined ? (textAt(route, 'name') ?? '') : `regex ${regex}`;
}

function retriesOf(policy: unknown): RetryView {
  return {
    on: (textAt(policy, 'retry_on') ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
    avoidsTriedHosts: listAt(policy, 'retry_host_predicate').some(
      (one) => typeAt(one, 'typed_config') === 'PreviousHostsPredicate',
    ),
    perTryTimeout: secondsAt(policy, 'per_try_timeout'),
    perTryIdleTimeout: secondsAt(policy, 'per_try_idle_timeout'),
  };
}

function readMapper(mapper: unknown): MapperView {
  return {
    takes: (flag) => takes(at(mapper, 'filter'), flag, 0),
    status: numberAt(mapper, 'status_code'),
    hasBody: isSet(mapper, 'body') || isSet(mapper, 'body_format_override'),
    hasRetryAfter: listAt(mapper, 'headers_to_add').some(
      (one) => textAt(one, 'header', 'key')?.toLowerCase() === 'retry-after',
    ),
  };
}

const DEPTH_MAX = 20;

/** Whether a filter lets a local reply of status 503 with a flag pass; null: that depends, or is not known. */
function takes(filter: unknown, flag: string, depth: number): boolean | null {
  if (depth > DEPTH_MAX) return null;
  const flags = at(filter, 'response_flag_filter');
  if (flags !== undefined) {
    const listed = listAt(flags, 'flags');
    return listed.length === 0 || listed.includes(flag);
  }
  const inner = (kind: string) => listAt(filter, kind, 'filters').map((one) => takes(one, flag, depth + 1));
  if (isSet(filter, 'or_filter')) return either(inner('or_filter'));
  if (isSet(filter, 'and_filter')) return not(either(inner('and_filter').map(not)));
  return isSet(filter, 'status_code_filter')
    ? takes503(at(filter, 'status_code_filter', 'comparison'))
    : null;
}

function either(parts: readonly (boolean | null)[]): boolean | null {
  if (parts.includes(true)) return true;
  return parts.includes(null) ? null : false;
}

function not(value: boolean | null): boolean | null {
  return value === null ? null : !value;
}

function takes503(comparison: unknown): boolean | null {
  const value = numberAt(comparison, 'value', 'default_value') ?? null;
  if (value === null) return null;
  switch (textAt(comparison, 'op') ?? 'EQ') {
    case 'EQ':
      return value === 503;
    case 'GE':
      return value <= 503;
    case 'LE':
      return value >= 503;
    case 'NE':
      return value !== 503;
    default:
      return null;
  }
}
