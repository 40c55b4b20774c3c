import type { BackendLook, HeldLook, Look, PlaneLook } from './model.ts';

/** Backends of the stage. */
const FLEET = 10;
/** Weights of a fleet at ease stay within this of their mean. */
const LEAST = 0.5;
const MOST = 1.5;

/**
 * Load-aware, every sidecar connected, the whole fleet there, nobody missing, frozen or set aside, no backend far from
 * the mean, and the sidecars hold it. Those that left and are draining do not matter.
 * @param before the look before: sidecars may hold what was published then
 */
export function isBalanced(look: Look, before: Look | undefined): boolean {
  const { plane } = look;
  if (plane === undefined || plane.mode !== 'balanced' || plane.shed > 0) return false;
  const backends = plane.backends.filter(({ health }) => health !== 'DRAINING');
  if (plane.streams < look.sidecars.length || backends.length < FLEET) return false;
  const mean = backends.reduce((sum, { weight }) => sum + weight, 0) / backends.length;
  const atEase = backends.every(
    ({ weight, health, frozen, missed }) =>
      health === 'HEALTHY' && !frozen && missed <= 1 && weight >= LEAST * mean && weight <= MOST * mean,
  );
  return atEase && (follow(look, look) || (before !== undefined && follow(look, before)));
}

/** Whether every sidecar holds the weights and health of that look, and nobody else who gets requests. */
export function follow({ sidecars }: Look, { plane }: Look): boolean {
  if (plane === undefined) return false;
  const published = new Map(
    plane.backends
      .filter(({ health }) => health !== 'ABSENT' && health !== 'DRAINING')
      .map((backend) => [backend.id, backend]),
  );
  return sidecars.every((held) => {
    const others = held.filter(({ id }) => !published.has(id));
    return (
      held.length - others.length === published.size &&
      others.every(({ health }) => health !== 'HEALTHY') &&
      held.every(({ id, weight, health }) => {
        const wanted = published.get(id);
        return wanted === undefined || (weight === wanted.weight && health === wanted.health);
      })
    );
  });
}

/** Whether the control plane answers, and this holds of every backend that the fault is done to. */
export function everyTarget(holds: (backend: BackendLook) => boolean): (look: Look) => boolean {
  return ({ plane }) => plane?.backends.every((backend) => !backend.target || holds(backend)) === true;
}

/** Whether this holds of every backend that a sidecar holds. */
export function everySidecar(holds: (backend: HeldLook) => boolean): (look: Look) => boolean {
  return ({ sidecars }) => sidecars.every((held) => held.every(holds));
}

/** Those that a sidecar sends requests to; one that left is kept as draining for a while. */
export function healthy(held: readonly HeldLook[]): readonly HeldLook[] {
  return held.filter(({ health }) => health === 'HEALTHY');
}

/** For `throughout`. */
export const HELD = {
  what: 'sidecars hold every backend, healthy',
  holds: ({ sidecars }: Look): boolean => sidecars.every((held) => healthy(held).length === FLEET),
};

/** Whether all are healthy by the control plane; one that left is draining for a while. */
export function areHealthy({ backends }: PlaneLook): boolean {
  return backends.every(({ health }) => health === 'HEALTHY' || health === 'DRAINING');
}

/** For `throughout`; a control plane that does not answer breaks nothing by that. */
export const ALL_HEALTHY = {
  what: 'all healthy',
  holds: ({ plane }: Look): boolean => plane === undefined || areHealthy(plane),
};

/** The same. */
export const FOLLOWING = {
  what: 'weights follow the load, all healthy',
  holds: ({ plane }: Look): boolean =>
    plane === undefined || (plane.mode === 'balanced' && areHealthy(plane)),
};
