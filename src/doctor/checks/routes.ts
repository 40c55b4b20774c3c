import { type Finding, Judge } from '../finding.ts';
import { managerMend, routeMend } from '../mends.ts';
import type { ClusterView, ManagerView, RouteView } from '../view.ts';

/** A route of a listener that leads to the cluster. */
export interface Way {
  readonly cluster: ClusterView;
  readonly manager: ManagerView;
  readonly route: RouteView;
}

/** Seconds that a generation may well take. */
const LONG = 600;
/** Envoy's default of a route. */
const TIMEOUT_DEFAULT = 15;

function judgeOf(check: string, { cluster, manager, route }: Way): Judge {
  return new Judge(check, { cluster: cluster.name, listener: manager.listener, route: route.name });
}

/** Whether any request can get to the cluster. */
export function checkReached(
  { name }: ClusterView,
  ways: readonly Way[],
  managers: readonly ManagerView[],
): readonly Finding[] {
  if (ways.length > 0) return [];
  const unseen = managers.filter(({ routes }) => routes === undefined).map(({ listener }) => listener);
  const rest =
    unseen.length === 0
      ? 'nor are its timeouts, retries and the 503 looked at'
      : `the routes of ${unseen.slice(0, 5).join(', ')} cannot be seen`;
  return [
    new Judge('routes', { cluster: name }).warning({
      is: 'none leads here by name',
      why: `No request comes, unless by a header or a TCP proxy; ${rest}.`,
    }),
  ];
}

export function checkRouteTimeout(way: Way): Finding {
  const judge = judgeOf('timeout', way);
  const { timeout } = way.route;
  if (timeout === null) return judge.unreadable();
  if (timeout === 0 || (timeout !== undefined && timeout >= LONG)) {
    return judge.ok(timeout === 0 ? 'none' : `${timeout} s`);
  }
  const fault = {
    is: timeout === undefined ? `not set, so ${TIMEOUT_DEFAULT} s` : `${timeout} s`,
    shouldBe: '0 s, which is none',
    why: 'A generation that takes longer is cut off (504, or a broken stream).',
    mend: routeMend(['route', 'timeout']),
  };
  return (timeout ?? TIMEOUT_DEFAULT) <= TIMEOUT_DEFAULT ? judge.error(fault) : judge.warning(fault);
}

/** What else may end a generation however well it goes. */
export function checkMaxDuration(way: Way): readonly Finding[] {
  const { cluster, manager, route } = way;
  const bounds = {
    "the route's max_stream_duration": route.maxStreamDuration,
    "the listener's max_stream_duration": manager.maxStreamDuration,
    "the cluster's max_stream_duration": cluster.maxStreamDuration,
    per_try_timeout: route.retries?.perTryTimeout,
    per_try_idle_timeout: route.retries?.perTryIdleTimeout,
  };
  const judge = judgeOf('max_stream_duration', way);
  return Object.entries(bounds).flatMap(([name, seconds]) => {
    if (seconds === null) return [judge.unreadable()];
    if (seconds === undefined || seconds === 0 || seconds >= LONG) return [];
    return [
      judge.warning({
        is: `${name} is ${seconds} s`,
        shouldBe: 'left out',
        why: 'A generation that takes longer is cut off.',
      }),
    ];
  });
}

/** Envoy's default, and what is too short for a first token under load. */
const IDLE_DEFAULT = 300;
const IDLE_SHORT = 60;

export function checkStreamIdle(way: Way): Finding {
  const judge = judgeOf('stream_idle_timeout', way);
  const { idleTimeout } = way.route;
  const set = idleTimeout === undefined ? way.manager.streamIdleTimeout : idleTimeout;
  if (set === null) return judge.unreadable();
  const seconds = set ?? IDLE_DEFAULT;
  const is = set === undefined ? `not set, so ${IDLE_DEFAULT} s` : seconds === 0 ? 'none' : `${seconds} s`;
  if (seconds === 0 || seconds >= IDLE_DEFAULT) return judge.ok(is);
  const fault = {
    is: idleTimeout === undefined ? is : `${is}, by the route's idle_timeout`,
    shouldBe: '600 s',
    why: 'A request that waits longer for its first token, as under load, is cut off (504).',
    mend: managerMend(['stream_idle_timeout']),
  };
  return seconds < IDLE_SHORT ? judge.error(fault) : judge.warning(fault);
}

/** Reasons for a retry by which a backend works on a request more than once. */
const REPEATING = [
  '5xx',
  'gateway-error',
  'reset',
  'retriable-4xx',
  'retriable-status-codes',
  'retriable-headers',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
];
const HARMLESS = ['reset-before-request', 'connect-failure', 'refused-stream'];

export function checkRetryPolicy(way: Way): readonly Finding[] {
  const judge = judgeOf('retry_policy', way);
  const { retries } = way.route;
  const mend = routeMend(['route', 'retry_policy']);
  if (retries === undefined) {
    return [
      judge.warning({
        is: 'not set',
        shouldBe: `retry_on: ${HARMLESS.join(',')}`,
        why: 'A backend that has just gone costs requests that another one would have served.',
        mend,
      }),
    ];
  }
  const repeating = retries.on.filter((reason) => REPEATING.includes(reason));
  const missing = repeating.length > 0 ? [] : HARMLESS.filter((reason) => !retries.on.includes(reason));
  const faults = [
    ...(repeating.length === 0
      ? []
      : [
          judge.warning({
            is: `retry_on has ${repeating.join(', ')}`,
            shouldBe: `retry_on: ${HARMLESS.join(',')}`,
            why: 'It sends again what a backend has worked on: in overload that multiplies the load.',
            mend,
          }),
        ]),
    ...(missing.length === 0
      ? []
      : [
          judge.warning({
            is: `retry_on is without ${missing.join(', ')}`,
            shouldBe: `retry_on: ${HARMLESS.join(',')}`,
            why: 'What no backend can have begun to work on could be sent again.',
            mend,
          }),
        ]),
    ...(retries.avoidsTriedHosts
      ? []
      : [
          judge.warning({
            is: 'without previous_hosts in retry_host_predicate',
            shouldBe: 'with it',
            why: 'A retry may go to the backend that has just failed.',
            mend,
          }),
        ]),
  ];
  return faults.length > 0 ? faults : [judge.ok(retries.on.join(','))];
}
