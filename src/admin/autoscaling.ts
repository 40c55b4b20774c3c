import type { GroupDecision } from '../core/model/decision.ts';

/**
 * How long the group needs for what queues in it, at the rate at which it finishes requests: by Little's law the
 * requests inside over the estimated stay. Over the backends with a fresh sample of both gauges, frozen ones left out.
 * @returns seconds, 0 when nothing queues; undefined: no backend has such a sample
 */
export function queueSeconds({ backends, staySeconds }: GroupDecision): number | undefined {
  let queued = 0;
  let inside = 0;
  let seen = false;
  for (const { sample, use } of backends) {
    if (use !== 'fresh' || sample?.queued === undefined || sample.running === undefined) continue;
    seen = true;
    queued += sample.queued;
    inside += sample.queued + sample.running;
  }
  if (!seen) return undefined;
  return queued === 0 ? 0 : (queued / inside) * staySeconds;
}

/**
 * Which part of the backends that may take traffic is above the mark: 1 when sidecars have nobody to send to. One that
 * sleeps, or is removed as it gives no metrics, is not in the assignment and can take none.
 * @returns 0..1; undefined: nobody is in the assignment but those that drain
 */
export function saturatedRatio({ backends }: GroupDecision): number | undefined {
  const members = backends.filter(
    ({ backend, health }) => health !== undefined && backend.weight > 0 && backend.draining !== true,
  );
  return members.length === 0
    ? undefined
    : members.filter(({ saturated }) => saturated).length / members.length;
}
