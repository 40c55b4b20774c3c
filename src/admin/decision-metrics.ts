import { Gauge, type Registry } from 'prom-client';
import type { EndpointHealth } from '../core/model/assignment.ts';
import type { BackendDecision, GroupDecision, GroupMode } from '../core/model/decision.ts';
import { admissionFigures } from './admission-figures.ts';
import { queueSeconds, saturatedRatio } from './autoscaling.ts';

const HEALTH: readonly (EndpointHealth | 'ABSENT')[] = ['HEALTHY', 'UNHEALTHY', 'DRAINING', 'ABSENT'];
const MODES: readonly GroupMode[] = ['balanced', 'kept', 'configured'];

/** A gauge of one backend or group; undefined: there is nothing to say, and no series. */
type BackendGauge = readonly [name: string, help: string, read: (of: BackendDecision) => number | undefined];
type GroupGauge = readonly [name: string, help: string, read: (of: GroupDecision) => number | undefined];

const BACKEND_GAUGES: readonly BackendGauge[] = [
  [
    'weight',
    'Published endpoint weight, with Mode: Observe the one that is only computed; 0: not in the assignment.',
    (of) => of.weight,
  ],
  ['share_ratio', 'Expected share of new requests.', (of) => of.share],
  [
    'score_ratio',
    'Linear score under the scorer weights; the best of the group is 1.',
    (of) => (of.score === undefined ? undefined : of.score / 100),
  ],
  ['queued_requests', 'Queued requests, as last sampled.', (of) => of.sample?.queued],
  ['running_requests', 'Running requests, as last sampled.', (of) => of.sample?.running],
  ['kv_cache_utilization_ratio', 'KV cache utilisation, as last sampled.', (of) => of.sample?.kvUtilization],
  ['capacity_ratio', 'Learned capacity; the mean of the group is 1.', (of) => of.capacity],
  [
    'missed_evaluations',
    'Evaluations since the last one with a fresh sample, without those that came early.',
    (of) => of.missed,
  ],
  ['saturated', '1: UNHEALTHY because its load is above the mark.', (of) => Number(of.saturated)],
  [
    'asleep',
    '1: its engine sleeps, so that it is not in the assignment.',
    (of) => Number(of.use === 'asleep'),
  ],
  [
    'doubted',
    '1: its metrics show less than it takes, so that it counts as average.',
    (of) => Number(of.doubted),
  ],
  ['frozen', '1: its metrics stand still while they should move.', (of) => Number(of.frozen)],
];

const GROUP_GAUGES: readonly GroupGauge[] = [
  ['gain', 'How strongly weights follow the load; falls as information gets older.', (of) => of.gain],
  ['stay_seconds', 'Estimated time that a request stays with a backend.', (of) => of.staySeconds],
  ['delay_seconds', 'From the start of a collection to its weights being in force.', (of) => of.delaySeconds],
  ['backends', 'Configured backends.', (of) => of.backends.length],
  [
    'shed_ratio',
    'Share of requests that sidecars are told to refuse, so that the others get their first token in time.',
    (of) => of.assignment.dropShare,
  ],
  [
    'computed_shed_ratio',
    'Share of requests that the rule comes to refuse; other than shed_ratio only with Mode: Observe.',
    (of) => of.computed.dropShare,
  ],
  [
    'wait_seconds',
    'Estimated time that a new request waits for its turn.',
    (of) => admissionFigures(of.admission)?.waitSeconds,
  ],
  [
    'queue_seconds',
    'Estimated time that the group needs for what queues in it; for autoscaling.',
    queueSeconds,
  ],
  [
    'saturated_ratio',
    'Part of the backends in the assignment, without those that drain, that is above the mark; for autoscaling.',
    saturatedRatio,
  ],
  [
    'observing',
    '1: Mode: Observe; weight, share, health and saturated tell what sidecars would be told.',
    (of) => Number(of.observing),
  ],
];

/** Registers the gauges that describe the latest decisions. They are read off at each scrape and hold nothing. */
export function defineDecisionGauges(
  registry: Registry,
  decisions: () => readonly GroupDecision[],
  now: () => number,
): void {
  for (const [name, help, read] of BACKEND_GAUGES) {
    defineBackendGauge(registry, `plimsoll_backend_${name}`, help, (_decision, of) => read(of), decisions);
  }
  defineBackendGauge(
    registry,
    'plimsoll_backend_sample_age_seconds',
    'Age of the last sample.',
    (decision, of) =>
      of.sampleAgeMs === undefined ? undefined : (of.sampleAgeMs + now() - decision.atMs) / 1000,
    decisions,
  );
  for (const [name, help, read] of GROUP_GAUGES) defineGroupGauge(registry, name, help, read, decisions);
  defineZoneGauge(registry, decisions);
  defineStates(registry, decisions);
}

/** @param counts gives those of now, of every group that is configured. */
export function defineWarningsGauge(registry: Registry, counts: () => ReadonlyMap<string, number>): void {
  new Gauge({
    name: 'plimsoll_server_group_warnings',
    help: 'Things an operator should look at; the page, top and /state have their words.',
    labelNames: ['server_group'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [serverGroup, count] of counts()) this.set({ server_group: serverGroup }, count);
    },
  });
}

function defineBackendGauge(
  registry: Registry,
  name: string,
  help: string,
  read: (decision: GroupDecision, of: BackendDecision) => number | undefined,
  decisions: () => readonly GroupDecision[],
): void {
  new Gauge({
    name,
    help,
    labelNames: ['server_group', 'backend'],
    registers: [registry],
    collect() {
      this.reset();
      for (const decision of decisions()) {
        for (const of of decision.backends) {
          const value = read(decision, of);
          if (value === undefined) continue;
          this.set({ server_group: decision.serverGroup, backend: of.backend.id }, value);
        }
      }
    },
  });
}

function defineGroupGauge(
  registry: Registry,
  name: string,
  help: string,
  read: (of: GroupDecision) => number | undefined,
  decisions: () => readonly GroupDecision[],
): void {
  new Gauge({
    name: `plimsoll_server_group_${name}`,
    help,
    labelNames: ['server_group'],
    registers: [registry],
    collect() {
      this.reset();
      for (const decision of decisions()) {
        const value = read(decision);
        if (value !== undefined) this.set({ server_group: decision.serverGroup }, value);
      }
    },
  });
}

function defineZoneGauge(registry: Registry, decisions: () => readonly GroupDecision[]): void {
  new Gauge({
    name: 'plimsoll_zone_home_share_ratio',
    help: "With Locality: Prefer, the expected share of a zone's requests that stays there.",
    labelNames: ['server_group', 'zone'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { serverGroup, zones = [] } of decisions()) {
        for (const { zone, homeShare } of zones) this.set({ server_group: serverGroup, zone }, homeShare);
      }
    },
  });
}

/** State sets: one series for each state, 1 for the state that holds. */
function defineStates(registry: Registry, decisions: () => readonly GroupDecision[]): void {
  new Gauge({
    name: 'plimsoll_backend_health',
    help: 'Published health; ABSENT: not in the assignment.',
    labelNames: ['server_group', 'backend', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { serverGroup, backends } of decisions()) {
        for (const { backend, health = 'ABSENT' } of backends) {
          for (const state of HEALTH) {
            this.set({ server_group: serverGroup, backend: backend.id, state }, Number(state === health));
          }
        }
      }
    },
  });
  new Gauge({
    name: 'plimsoll_server_group_mode',
    help: 'Where the weights come from: the load, what stood before, or the configuration.',
    labelNames: ['server_group', 'mode'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { serverGroup, mode } of decisions()) {
        for (const state of MODES)
          this.set({ server_group: serverGroup, mode: state }, Number(state === mode));
      }
    },
  });
}
