import type {
  SampledAssignment,
  SampledBackend,
  SampledGroup,
  SampleEvaluation,
  SampleGroups,
  SampleHeader,
} from '../admin/sample-shape.ts';
import type {
  BalanceSettings,
  MarkSettings,
  SaturationSettings,
  Scorer,
} from '../core/model/balance-settings.ts';
import { SAMPLE_FORMAT } from '../admin/sample-shape.ts';
import type { RecordedLine, RecordingEnd, RecordingGap } from '../replay/recording.ts';
import {
  aFlag,
  aNumber,
  aText,
  type Fields,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  type Shape,
  tupleOf,
} from './shape.ts';

/** What one finds in a file, or at an address, need not be a recording, nor one of this version. */

const amount: Shape = (value, path) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? undefined
    : `${path} must be a number of at least 0`;

const ratio: Shape = (value, path) =>
  amount(value, path) === undefined && (value as number) <= 1 ? undefined : `${path} must be in 0..1`;

const finite: Shape = (value, path) =>
  typeof value === 'number' && Number.isFinite(value) ? undefined : `${path} must be a number`;

/** `10.0.3.11:8000`, `[2001:db8::1]:8000` */
const backendId: Shape = (value, path) =>
  typeof value === 'string' && /^(\[[0-9a-f:.]{2,45}\]|[0-9.]{7,15}):\d{1,5}$/.test(value)
    ? undefined
    : `${path} must be like 10.0.3.11:8000`;

const endpoint = tupleOf([backendId, amount, oneOf(['HEALTHY', 'UNHEALTHY', 'DRAINING'])]);

const assignmentFields = {
  endpoints: listOf(endpoint),
  dropShare: ratio,
} satisfies Fields<SampledAssignment>;

const group = objectOf({
  name: aText,
  mode: oneOf(['Active', 'Observe']),
  envoyLbPolicy: aText,
  locality: optional(oneOf(['Prefer'])),
  intervalSeconds: amount,
  sharesBackends: optional(aFlag),
  keepsSessions: optional(aFlag),
  balance: objectOf({}),
  backends: listOf(
    objectOf({
      id: backendId,
      weight: amount,
      draining: optional(aFlag),
      zone: optional(aText),
    } satisfies Fields<SampledBackend>),
  ),
  evaluations: amount,
  published: orNull(objectOf(assignmentFields)),
} satisfies Fields<SampledGroup>);

const mark = objectOf({ mark: amount, clear: amount } satisfies Fields<MarkSettings>);

const balance = objectOf({
  scorers: listOf(
    objectOf({
      name: oneOf(['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests']),
      weight: amount,
    } satisfies Fields<Scorer>),
  ),
  policy: oneOf(['Adaptive', 'Linear']),
  saturation: optional(
    objectOf({
      totalQueuedRequests: mark,
      kvCacheUtilization: objectOf({ mark: amount }),
      runningRequests: optional(mark),
      admission: oneOf(['Proportional', 'None']),
    } satisfies Fields<SaturationSettings>),
  ),
  onCollectFailure: oneOf(['Keep', 'Remove']),
} satisfies Fields<BalanceSettings>);

/** Whether this version knows all that the group was configured to. */
export function isKnownGroup(of: SampledGroup): boolean {
  if (balance(of.balance, '') !== undefined || of.intervalSeconds === 0) return false;
  const isWeighed = of.balance.scorers.some(({ weight }) => weight > 0);
  return isWeighed && oneOf(['LeastRequest', 'RoundRobin'])(of.envoyLbPolicy, '') === undefined;
}

const sample = objectOf({
  queued: optional(amount),
  running: optional(amount),
  kvUtilization: optional(ratio),
  finished: optional(amount),
  latency: optional(objectOf({ sumSeconds: amount, count: amount })),
  prompts: optional(objectOf({ takenInTokens: amount, answeredTokens: amount })),
  tokens: optional(amount),
  coarse: optional(aFlag),
});

const sampled = objectOf({
  sample,
  engine: optional(aText),
  atMs: finite,
  durationMs: amount,
  bytes: amount,
});
const asleep = objectOf({ atMs: finite, durationMs: amount, bytes: amount });
const failed = objectOf({
  failure: objectOf({ kind: aText, message: aText }),
  atMs: finite,
  durationMs: amount,
});

const outcome: Shape = (value, path) => {
  const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
  switch (kind) {
    case 'failure':
      return failed(value, path);
    case 'asleep':
      return asleep(value, path);
    default:
      return sampled(value, path);
  }
};

const SHAPES: Readonly<Record<RecordedLine['kind'], Shape>> = {
  'plimsoll samples': objectOf({
    kind: aText,
    format: aNumber,
    version: aText,
    instance: aText,
    startedAt: finite,
    now: finite,
    nowMs: finite,
    groups: listOf(group),
  } satisfies Fields<SampleHeader>),
  groups: objectOf({ kind: aText, atMs: finite, groups: listOf(group) } satisfies Fields<SampleGroups>),
  evaluation: objectOf({
    kind: aText,
    group: aText,
    number: amount,
    atMs: finite,
    collectionStartedAtMs: finite,
    delaySeconds: amount,
    outcomes: listOf(tupleOf([backendId, outcome])),
    published: optional(objectOf({ ...assignmentFields, reason: aText })),
  } satisfies Fields<SampleEvaluation>),
  gap: objectOf({ kind: aText, at: finite, seconds: amount, reason: aText } satisfies Fields<RecordingGap>),
  end: objectOf({ kind: aText, at: finite, because: aText } satisfies Fields<RecordingEnd>),
};

export type ReadLine =
  | { readonly kind: 'line'; readonly line: RecordedLine }
  /** Of a newer version; may be left out. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'bad'; readonly reason: string };

/** Reads one line of samples or of a recording. */
export function readLine(text: string): ReadLine {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || !('kind' in value)) {
    return { kind: 'bad', reason: 'a line is no JSON object with a kind' };
  }
  if (!isKnown(value.kind)) return { kind: 'unknown' };
  const wrong = SHAPES[value.kind](value, '');
  if (wrong !== undefined) return { kind: 'bad', reason: wrong };
  const line = value as RecordedLine;
  if (line.kind === 'plimsoll samples' && (line.format as number) !== SAMPLE_FORMAT) {
    return {
      kind: 'bad',
      reason: `it has format ${String(line.format)}, and this Plimsoll knows ${SAMPLE_FORMAT}`,
    };
  }
  return { kind: 'line', line };
}

function isKnown(kind: unknown): kind is RecordedLine['kind'] {
  return typeof kind === 'string' && Object.hasOwn(SHAPES, kind);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
