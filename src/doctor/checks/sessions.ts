import { type Finding, Judge } from '../finding.ts';
import type { ClusterView, ManagerView } from '../view.ts';

/** In which a backend is to get nothing new. */
const OUT: ReadonlySet<string> = new Set(['UNHEALTHY', 'DRAINING', 'TIMEOUT']);

/** Sessions that return to their backend: only where there are any. */
export function checkSessions(
  { name, sessionStatuses }: ClusterView,
  managers: readonly ManagerView[],
): readonly Finding[] {
  const withSessions = managers.filter(({ sessions }) => sessions !== undefined);
  if (withSessions.length === 0) return [];
  const faults = withSessions
    .filter(({ sessions }) => sessions?.strict === true)
    .map((of) => strict(of, name));
  const wrong = sessionStatuses.filter((status) => OUT.has(status));
  if (wrong.length > 0) {
    faults.push(
      new Judge('override_host_status', { cluster: name }).error({
        is: wrong.join(', '),
        shouldBe: 'left out',
        why: 'Sessions then go on to backends that Plimsoll keeps from requests: saturated ones get more still.',
      }),
    );
  }
  return faults.length > 0
    ? faults
    : [new Judge('stateful_session', { cluster: name }).ok('set: sessions move when their backend is out')];
}

function strict({ listener }: ManagerView, cluster: string): Finding {
  return new Judge('stateful_session', { cluster, listener }).error({
    is: 'strict',
    shouldBe: 'not strict',
    why: 'While its backend is saturated or gone a session is answered 503, although others have room.',
  });
}
