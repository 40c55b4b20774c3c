import type { GroupDecision } from '../core/model/decision.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import type { Logger } from '../runtime/log.ts';
import { shortened } from '../runtime/shortened.ts';

/** Unhealthy backends that are shown. */
const BACKENDS_SHOWN = 10;

/** Logs what the sidecars of a group are told from now on, and why. */
export function logPublished(log: Logger, decision: GroupDecision, version: string): void {
  const { serverGroup, publish: because, mode, gain, assignment, observing } = decision;
  const ids = assignment.endpoints
    .filter(({ health }) => health === 'UNHEALTHY')
    .map(({ address, port }) => formatHostPort(address, port));
  const unhealthy = shortened(ids, BACKENDS_SHOWN);
  // in overload both are another one at each evaluation; that it begins and ends is a warning
  const level = because === 'shares' || because === 'admission' ? 'debug' : 'info';
  const { dropShare } = assignment;
  log[level](
    { serverGroup, because, mode, gain, unhealthy, dropShare, version, ...(observing && { observing }) },
    'assignment published',
  );
}
