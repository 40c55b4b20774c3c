import { setTimeout as delay } from 'node:timers/promises';
import type { SoakStage } from './soak-stage.ts';

const LOOK_MS = 500;

/** Sends the requests that are made up where a sidecar would send them, until it is aborted. */
export async function followWeights({ fleet, sidecars }: SoakStage, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { shares } = await sidecars.look();
    if (shares.size > 0) await fleet.tell({ kind: 'share', shares });
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
