import type { Fault, Row } from '../faults/model.ts';
import type { Sidecars } from './sidecars.ts';

const LOOP_MS = 500;

/** Faults of the simulated sidecars of the soak, as rows like those of the fault table. */
export function sidecarRows(sidecars: Sidecars): readonly Row[] {
  const row = (name: string, happens: string, fault: () => Omit<Fault, 'targets'>): Row => ({
    part: 'sidecars',
    name,
    happens,
    faultsOwn: 'none',
    fault: () => ({ targets: [], ...fault() }),
    holdSeconds: 12,
    recover: { withinSeconds: 4 },
  });
  return [
    row('simulated ones stopped', 'all simulated sidecars are stopped (SIGSTOP) for 12 s', () => ({
      apply: async () => sidecars.freeze(),
      undo: async () => sidecars.thaw(),
    })),
    row('simulated ones refuse', 'all simulated sidecars refuse each response for 12 s', () => ({
      apply: () => sidecars.refuse(sidecars.count),
      undo: () => sidecars.refuse(0),
    })),
    row('simulated ones in a loop', 'all simulated sidecars reconnect twice a second for 12 s', () => {
      let timer: NodeJS.Timeout | undefined;
      return {
        apply: async () => {
          timer = setInterval(() => {
            // whether they are served in the end is looked at afterwards
            void sidecars.reconnect(0, sidecars.count).catch(() => undefined);
          }, LOOP_MS);
        },
        undo: async () => {
          clearInterval(timer);
        },
      };
    }),
  ];
}
