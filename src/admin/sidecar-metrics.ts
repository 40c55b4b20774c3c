import { Gauge, type Registry } from 'prom-client';
import type { SidecarCounts } from './sidecars.ts';

/** Registers the gauges of how many sidecars there are, and of those that an operator should look at. */
export function defineSidecarGauges(registry: Registry, counts: () => SidecarCounts): void {
  const define = (name: string, help: string, read: (of: SidecarCounts) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(counts()));
      },
    });
  };
  define('plimsoll_sidecars', 'Sidecars with an open stream.', ({ total }) => total);
  define(
    'plimsoll_sidecars_behind',
    'Sidecars that have not taken an assignment for 5 s after it was published.',
    ({ behind }) => behind,
  );
  define(
    'plimsoll_sidecars_refusing',
    'Sidecars that refused a response and have taken none of its type since.',
    ({ refusing }) => refusing,
  );
}
