import type { BackendChange } from '../backend-change.ts';
import type { BackendHandle, Failure, Fault, Look, Row, Times } from '../model.ts';
import { lone } from '../pick.ts';

/** What the rows of backends have in common. */

type Changed = Pick<Row, 'part' | 'name' | 'happens' | 'faultsOwn' | 'fault'>;

/** Who joins a living group, or wakes, gets its share within 30 s, beginning with a tenth. */
export const JOINED = {
  withinSeconds: 33,
  because: 'who joins a living group or wakes begins with a tenth and has all after 30 s',
};

/** One backend is told to change, and to change back. */
export function changed(
  name: string,
  happens: string,
  [to, back]: readonly [BackendChange, BackendChange],
): Changed {
  return {
    part: 'backends',
    name,
    happens,
    faultsOwn: 'none',
    fault: (stage) => changing([lone(stage).backend], to, back),
  };
}

export function changing(backends: readonly BackendHandle[], to: BackendChange, back: BackendChange): Fault {
  const change = async (what: BackendChange): Promise<void> => {
    await Promise.all(backends.map((backend) => backend.change(what)));
  };
  return { targets: backends.map(({ id }) => id), apply: () => change(to), undo: () => change(back) };
}

/** Cut off, or a connection that was refused, at the targets as far as that is known. */
export function isCut({ kind, backend }: Failure, { targets }: Times): boolean {
  return (
    (kind === 'broken' || kind === 'unavailable') && (backend === undefined || targets.includes(backend))
  );
}

/** The client has waited as long as it does, for one of the targets as far as that is known. */
export function isUnanswered({ kind, backend }: Failure, { targets }: Times): boolean {
  return kind === 'timeout' && (backend === undefined || targets.includes(backend));
}

/** Whether the weight of every target is so many times the mean, by its rule. */
export function everyWeight(holds: (timesMean: number) => boolean): (look: Look) => boolean {
  return ({ plane }) => {
    const backends = plane?.backends.filter(({ health }) => health !== 'DRAINING') ?? [];
    const mean = backends.reduce((sum, { weight }) => sum + weight, 0) / backends.length;
    return backends.length > 0 && backends.every(({ target, weight }) => !target || holds(weight / mean));
  };
}
