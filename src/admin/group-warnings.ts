import type { GroupDecision } from '../core/model/decision.ts';
import type { DiscoveryStatus } from '../core/model/discovery.ts';
import { discoveryWarnings } from './discovery-warnings.ts';
import { silenceWarnings } from './silence-warnings.ts';
import type { Warning } from './state-shape.ts';

/** Below this gain weights hardly answer to the load. */
const WEAK_GAIN = 0.1;

/** What to do about each warning of the rule, by how it begins. */
const REMEDIES: readonly (readonly [beginning: string, remedy: string])[] = [
  [
    'no backend gives metrics: what is published',
    'Look whether this machine still reaches the backends; the causes are listed with them. Sidecars go on with what they have.',
  ],
  [
    'no backend gives metrics: configured',
    'Look whether this machine reaches the backends, and whether HttpMetricCollect is right; until then traffic goes by the configured weights.',
  ],
  [
    'the gauges of all backends',
    'Look whether the metrics pages are made anew at each request: a cache or a proxy in between may answer instead of the engines.',
  ],
  [
    'there is no backend',
    'Its source has told an empty list, and still does: look there. Sidecars answer 503 until backends are found.',
  ],
  [
    'every backend is draining',
    'All are on their way out, or asleep: bring others up, or look at what takes them away. Sidecars answer 503.',
  ],
  [
    'no backend with a weight above 0',
    'Sidecars answer 503: give at least one of the Servers a Weight above 0.',
  ],
  [
    'no backend load to weigh',
    'Look at a metrics page with curl: the engine may have renamed these metrics, or its version is not supported.',
  ],
  [
    'scorer ',
    'Engines of different versions in one group? Look at the metrics pages with curl, or give this scorer Weight 0.',
  ],
  [
    'more than a quarter of the backends',
    'Look whether this machine has what it takes to poll them all: its processor time, open files, and network. MetricCollector.Timeout may be raised.',
  ],
  [
    'gauges stand still',
    'The engine there may hang, though its metrics page answers: look at its log, and restart it if requests to it do not end. It takes a trickle of traffic meanwhile.',
  ],
  [
    'metrics are doubted',
    'Its metrics page shows next to no load, or less than its share brings: look whether it is that of the engine there, and whether requests to it end well. Requests may also not reach it: sidecars that ignore the weights or eject it. Or another server group sends it far shorter ones. It counts as average meanwhile.',
  ],
  [
    'Saturation.Admission has nothing',
    'The engine shows no counter of finished requests. Saturation: {Admission: None} accepts that.',
  ],
  [
    'overload: with Mode: Active',
    'More comes than the backends can take, and the requests queue there: add backends, or send less. Mode: Active would refuse a share, so that the others are served in time.',
  ],
  [
    'overload',
    'More comes than the backends can take: add backends, or send less. The others are served in time meanwhile; 503s are the intended answer.',
  ],
  [
    'Locality: Prefer tells at most',
    'Name larger areas as zones, so that there are fewer, or set Locality: None, which says the same as what is done.',
  ],
  [
    'half of the backends or more are saturated',
    'The load comes near to what the backends can take: add backends, or send less. Look at the queues: if they are short, Saturation may be set too low.',
  ],
  [
    'every backend is saturated: with Mode: Active',
    'More comes than the backends can take: add backends, or send less. If the queues are short, Saturation may be set too low: mend that before Mode: Active.',
  ],
  [
    'every backend is saturated',
    'More comes than the backends can take: add backends, or send less. Look at the queues: if they are short, Saturation may be set too low.',
  ],
];

const FALLBACK = '`plimsoll explain GROUP` says more.';

/**
 * What an operator should look at in a group, where its backends come from included; most important first.
 * @param newest undefined: it has not been evaluated yet
 */
export function allGroupWarnings(
  newest: GroupDecision | undefined,
  discovery: DiscoveryStatus | undefined,
  nowMs: number,
): readonly Warning[] {
  return [
    ...discoveryWarnings(discovery, nowMs),
    ...(newest === undefined ? [] : groupWarnings(newest, nowMs)),
  ];
}

/** What a decision gives reason to look at, most important first. */
export function groupWarnings(decision: GroupDecision, nowMs: number): readonly Warning[] {
  return [
    ...decision.warnings.map((text) => ({ text, remedy: remedyOf(text) })),
    ...silenceWarnings(decision, nowMs),
    ...weakGain(decision),
  ];
}

function remedyOf(text: string): string {
  return REMEDIES.find(([beginning]) => text.startsWith(beginning))?.[1] ?? FALLBACK;
}

function weakGain({ gain, staySeconds, delaySeconds, mode }: GroupDecision): readonly Warning[] {
  if (mode !== 'balanced' || gain === 0 || gain >= WEAK_GAIN) return [];
  const text = `weights hardly answer to the load (gain ${gain.toPrecision(2)}): a sample is used ${delaySeconds.toFixed(1)} s after its collection begins, and requests stay ${staySeconds.toFixed(1)} s`;
  return [{ text, remedy: 'Collect more often: a shorter Interval, or IntervalMilliseconds.' }];
}
