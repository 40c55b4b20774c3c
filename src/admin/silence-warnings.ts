import type { CollectFailureKind } from '../core/model/collection.ts';
import type { BackendDecision, GroupDecision } from '../core/model/decision.ts';
import { printable } from '../runtime/text.ts';
import type { Warning } from './state-shape.ts';
import { duration } from './words/figures.ts';

/** The first miss is nothing to worry about. */
const MISSED_MIN = 2;
const NAMES_SHOWN = 3;
const STATUSES_SHOWN = 3;

/** What a cause is called, and what to do about it. */
const CAUSES: Readonly<Record<CollectFailureKind, readonly [words: string, remedy: string]>> = {
  refused: [
    'connection refused',
    'Nothing listens there: look whether the engine runs, and whether Address and Port are its.',
  ],
  unreachable: [
    'no way there',
    'Look at the address, at routes, and at network policies between this machine and the backend.',
  ],
  reset: [
    'connection broken off',
    'Look at the log of the engine, and at a proxy in between if there is one.',
  ],
  timeout: [
    'no answer in time',
    'The engine is too busy to answer, or packets to it are dropped: try its metrics page with curl from this machine. MetricCollector.Timeout may be raised.',
  ],
  status: [
    'status',
    'Look whether HttpMetricCollect has the right Path, Method and Host, and at the log of the engine.',
  ],
  not_metrics: [
    'the page is none of metrics',
    "HttpMetricCollect.Path must lead to the page in Prometheus' text format: open it with curl.",
  ],
  metric_absent: [
    'a metric is not on the page',
    'Look with curl which metrics the page has, and whether this version of the engine is supported. A scorer of Weight 0 needs no metric.',
  ],
  not_a_number: [
    'a metric is no number',
    'Look at the page with curl: the engine, or something that rewrites its metrics, is at fault.',
  ],
  too_large: [
    'the page is too large',
    "Something else may answer there than the engine's own metrics page: look at it with curl.",
  ],
  protocol: [
    'the answer is no HTTP',
    'Look whether Port is that of the HTTP server, and whether it speaks TLS there.',
  ],
  tls: [
    'no trust by TLS',
    'Look at the words of the failure: HttpMetricCollect.Tls needs the CaFile and ServerName that fit the certificate of the backend, and our CertFile if it asks for one.',
  ],
  credentials: [
    'a file of ours cannot be used',
    'Look at the files that HttpMetricCollect names: token, headers, certificates. They are taken as soon as they are good.',
  ],
  internal: ['a fault of ours', 'The log has its message: please report it.'],
};

/** `2 of 8 backends have had no metrics for 40 s: connection refused`, for each cause. */
export function silenceWarnings(decision: GroupDecision, nowMs: number): readonly Warning[] {
  const byCause = new Map<CollectFailureKind | undefined, BackendDecision[]>();
  for (const of of decision.backends) {
    // one that drains is on its way out: it may be gone already
    if (of.missed < MISSED_MIN || of.backend.draining === true) continue;
    const cause = of.failure?.kind;
    const same = byCause.get(cause);
    if (same === undefined) byCause.set(cause, [of]);
    else same.push(of);
  }
  return [...byCause].map(([cause, silent]) => warningOf(decision, silent, cause, nowMs));
}

function warningOf(
  { backends, atMs }: GroupDecision,
  silent: readonly BackendDecision[],
  cause: CollectFailureKind | undefined,
  nowMs: number,
): Warning {
  const [words, remedy] = cause === undefined ? CAUSES.timeout : CAUSES[cause];
  const many = silent.length > 1;
  const names = silent.slice(0, NAMES_SHOWN).map(({ backend }) => backend.id);
  const listed = many && silent.length <= NAMES_SHOWN ? ` (${names.join(', ')})` : '';
  const who = many
    ? `${silent.length} of ${backends.length} backends${listed} have`
    : `${names[0] ?? ''} has`;
  const ages = silent.flatMap(({ sampleAgeMs }) => sampleAgeMs ?? []);
  const oldest = ages.reduce((a, b) => Math.max(a, b), 0) + nowMs - atMs;
  const span =
    ages.length === 0 ? 'never given metrics' : `had no metrics for ${duration(Math.round(oldest / 1000))}`;
  const [one] = silent;
  // of a single one its own words say more than the kind
  const several = cause === 'status' ? statusesOf(silent) : words;
  const why = many || one?.failure === undefined ? several : printable(one.failure.message, 200);
  return { text: `${who} ${span}: ${why}`, remedy };
}

/** `status 404, status 503` */
function statusesOf(silent: readonly BackendDecision[]): string {
  const statuses = [...new Set(silent.flatMap(({ failure }) => failure?.message ?? []))];
  const more = statuses.length > STATUSES_SHOWN ? ' and others' : '';
  return printable(statuses.slice(0, STATUSES_SHOWN).join(', ')) + more;
}
