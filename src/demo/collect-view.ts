import { systemClock } from '../runtime/clock.ts';
import { SERVER_GROUP } from './demo-config.ts';
import type { LiveAct } from './live-act.ts';
import { type PlaneBackend, type PlaneGroup, readPlaneMetrics } from './plane-metrics.ts';
import type { View } from './screen.ts';
import type { Stage } from './stage.ts';

/**
 * Everything that the screen shows, as of this moment. Score, weight and health come from the control plane's metrics
 * page; while it does not answer, weight and health are those that Envoy holds.
 */
export async function collectView(stage: Stage, live: LiveAct, past: readonly string[]): Promise<View> {
  const fromPlane = await groupOfPlane(stage);
  const decisions = fromPlane?.backends ?? (await decisionsOfEnvoy(stage));
  const nowMs = systemClock.now();
  const backends = stage.backends.map((backend) => {
    const { waiting, running, kvUtilization } = backend.gauges;
    const decision = decisions.get(backend.id);
    return {
      id: backend.id,
      speed: 1 / backend.slowness,
      queued: waiting,
      running,
      kvUtilization,
      score: decision?.score,
      weight: decision?.weight,
      share: live.shareOf(backend.id),
      health: decision?.health,
    };
  });
  return {
    act: live.act.title,
    story: live.act.story,
    addresses: stage.addresses,
    secondsLeft: live.act.endless === true ? undefined : live.secondsLeft(nowMs),
    isInOvertime: live.isInOvertime,
    shed: fromPlane?.shed,
    ratePerSecond: live.rate(nowMs),
    firstTokenP50Ms: live.firstTokenMs(0.5),
    firstTokenP95Ms: live.firstTokenMs(0.95),
    noUpstream: live.noUpstream,
    failed: live.failed,
    controlPlane: fromPlane === undefined ? planeWords(stage) : 'up',
    backends,
    past,
  };
}

/** p, the share that sidecars are told to refuse; undefined: the control plane does not say. */
export async function refusedShare(stage: Stage): Promise<number | undefined> {
  return (await groupOfPlane(stage))?.shed;
}

/** Why it does not answer. */
function planeWords({ plane }: Stage): string {
  if (plane.running) return 'does not answer';
  return plane.exitCode === undefined ? 'down: killed' : `down: ended with exit code ${plane.exitCode}`;
}

type Decisions = ReadonlyMap<string, Omit<PlaneBackend, 'share'>>;

async function groupOfPlane({ plane }: Stage): Promise<PlaneGroup | undefined> {
  const page = plane.running ? await plane.metrics().catch(() => undefined) : undefined;
  return page === undefined ? undefined : readPlaneMetrics(page, SERVER_GROUP);
}

async function decisionsOfEnvoy({ envoy }: Stage): Promise<Decisions> {
  const hosts = await envoy.clusters().catch(() => []);
  const ours = hosts.filter((host) => host.cluster === SERVER_GROUP);
  return new Map(ours.map(({ address, weight, health }) => [address, { score: undefined, weight, health }]));
}
