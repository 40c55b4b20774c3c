import type { Clock } from '../../runtime/clock.ts';
import type { AccessSource } from './access.ts';

/** What every source in a cluster needs. */
export interface ApiSettings {
  readonly namespace: string;
  readonly access: AccessSource;
  readonly clock: Clock;
  /** 0 (inclusive) .. 1 (exclusive), for waits */
  readonly random: () => number;
}
