import { type Finding, Judge } from '../finding.ts';
import { clusterMend } from '../mends.ts';
import { HTTP_OPTIONS } from '../read-cluster.ts';
import { numberOf } from '../read-stats.ts';
import type { ClusterView, EnvoyView } from '../view.ts';

const LIMITS = ['max_connections', 'max_pending_requests', 'max_requests'] as const;
/** Envoy's default, of each of them. */
const DEFAULT = 1024;
/** A fleet of some size has that many requests at once. */
const LEAST = 10_000;
const OVERFLOWS = ['upstream_cx_overflow', 'upstream_rq_pending_overflow', 'upstream_rq_active_overflow'];

export function checkCircuitBreakers(
  { name, statName, limits }: ClusterView,
  { stats }: Pick<EnvoyView, 'stats'>,
): Finding {
  const judge = new Judge('circuit_breakers', { cluster: name });
  if (LIMITS.some((limit) => limits[limit] === null)) return judge.unreadable();
  const low = LIMITS.filter((limit) => (limits[limit] ?? DEFAULT) < LEAST);
  const overflows = OVERFLOWS.map((stat) => numberOf(stats, `cluster.${statName}.${stat}`) ?? 0);
  const count = overflows.reduce((sum, one) => sum + one, 0);
  if (low.length === 0) return judge.ok('far above what a fleet has at once');
  const isUnset = low.some((limit) => limits[limit] === undefined);
  const fault = {
    is: low.map((limit) => `${limit} ${limits[limit] ?? `not set, so ${DEFAULT}`}`).join(', '),
    shouldBe: 'far above what the fleet has at once',
    why: `What goes beyond is answered 503 (flag UO) though backends have room${count > 0 ? `; that has happened ${count} times` : ''}.`,
    mend: clusterMend([['circuit_breakers']]),
  };
  return isUnset || count > 0 ? judge.error(fault) : judge.warning(fault);
}

/** Retries at a time. */
const RETRIES_DEFAULT = 3;
const RETRIES_LEAST = 100;

export function checkMaxRetries({ name, limits }: ClusterView): Finding {
  const judge = new Judge('max_retries', { cluster: name });
  const { max_retries: retries, hasRetryBudget } = limits;
  if (retries === null) return judge.unreadable();
  if (hasRetryBudget) return judge.ok('a retry_budget');
  if ((retries ?? RETRIES_DEFAULT) >= RETRIES_LEAST) return judge.ok(String(retries));
  return judge.warning({
    is: retries === undefined ? `not set, so ${RETRIES_DEFAULT}` : String(retries),
    shouldBe: 'about 1000',
    why: 'When a server goes, all of its connections fail at once, and only so many requests are tried elsewhere.',
    mend: clusterMend([['circuit_breakers']]),
  });
}

/** uvicorn's and others' keep-alive, seconds. */
const KEEP_ALIVE = 5;

export function checkIdleTimeout({ name, idleTimeout }: ClusterView): Finding {
  const judge = new Judge('idle_timeout', { cluster: name });
  if (idleTimeout === null) return judge.unreadable();
  if (idleTimeout !== undefined && idleTimeout > 0 && idleTimeout < KEEP_ALIVE) {
    return judge.ok(`connections to backends end after ${idleTimeout} s without a request`);
  }
  const is =
    idleTimeout === undefined
      ? 'not set, so 1 h'
      : idleTimeout === 0
        ? '0 s, which is never'
        : `${idleTimeout} s`;
  return judge.warning({
    is,
    shouldBe: "4 s, or less than the servers' own keep-alive",
    why: `uvicorn, which vLLM and SGLang run on, closes a connection that is idle for ${KEEP_ALIVE} s: a request sent at that moment is reset.`,
    mend: clusterMend([
      [...HTTP_OPTIONS, '@type'],
      [...HTTP_OPTIONS, 'common_http_protocol_options'],
      [...HTTP_OPTIONS, 'explicit_http_config'],
    ]),
  });
}
