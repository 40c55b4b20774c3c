import { type Finding, Judge } from '../finding.ts';
import { healthCheckMend } from '../mends.ts';
import type { ClusterView } from '../view.ts';

/** Envoy's default of `no_traffic_interval`, s. */
const NO_TRAFFIC_SECONDS = 60;
/** A fleet that comes up after its sidecars is out for as long. */
const WAIT_MAX_SECONDS = 15;

/** Envoy's own health checks: only where there are any. */
export function checkActiveChecks({ name, checks }: ClusterView): readonly Finding[] {
  if (checks === undefined) return [];
  const judge = new Judge('health_checks', { cluster: name });
  if (checks.noTrafficInterval === null) return [judge.unreadable()];
  const faults: Finding[] = [];
  if (!checks.ignoredOnRemoval) {
    faults.push(
      judge.warning({
        is: 'set, without ignore_health_on_host_removal',
        shouldBe: 'with it',
        why: 'A backend that is gone from the assignment stays, and takes requests, for as long as it answers checks.',
        mend: healthCheckMend(['ignore_health_on_host_removal']),
      }),
    );
  }
  const wait = checks.noTrafficInterval ?? NO_TRAFFIC_SECONDS;
  if (wait > WAIT_MAX_SECONDS) {
    faults.push(
      judge.warning({
        is: `no_traffic_interval ${checks.noTrafficInterval === undefined ? `not set, so ${wait} s` : `${wait} s`}`,
        shouldBe: 'as interval',
        why: `A fleet that comes up after its sidecars is answered for with 503 for up to ${wait} s.`,
        mend: healthCheckMend(['health_checks']),
      }),
    );
  }
  return faults.length > 0 ? faults : [judge.ok('set, new backends wait for the first check')];
}
