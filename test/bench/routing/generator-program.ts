/** The load generator of a cell: asked by messages, see {@link GeneratorQuestion}. */
import { type LoadResult, type Outcome, runLoad, type Sending } from '../../../src/demo/load.ts';
import { answerParent } from './child.ts';
import type { Fate, GeneratorAnswer, GeneratorQuestion, LoadToPlay } from './generator.ts';
import type { OutcomeName } from './model.ts';

/** Far more than are in flight when a minute of twice the capacity queues. */
const MOST_IN_FLIGHT = 16_000;

let prepared: LoadToPlay | undefined;

await answerParent(async (question: GeneratorQuestion): Promise<GeneratorAnswer> => {
  switch (question.kind) {
    case 'prepare':
      prepared = question.load;
      return [];
    case 'play':
      return prepared === undefined ? [] : play(prepared);
  }
});

async function play({ offered, origins, retries, drainSeconds }: LoadToPlay): Promise<GeneratorAnswer> {
  const arrivals = offered.map(
    ({ sidecar, cancelled, ...arrival }): Sending => ({
      ...arrival,
      origin: origins[sidecar] ?? '',
      leavesHalfWay: cancelled,
    }),
  );
  const places = new Map(arrivals.map((arrival, index) => [arrival, index]));
  const fates: (Fate | undefined)[] = arrivals.map(() => undefined);
  const patience = new AbortController();
  const lastMs = offered.at(-1)?.atMs ?? 0;
  const timer = setTimeout(
    () => {
      patience.abort();
    },
    lastMs + drainSeconds * 1000,
  );
  await runLoad({
    origin: origins[0] ?? '',
    arrivals,
    retries,
    mostInFlight: MOST_IN_FLIGHT,
    timeoutSeconds: 600,
    signal: patience.signal,
    onResult: (result) => {
      fates[places.get(result.arrival) ?? -1] = fateOf(result);
    },
  });
  clearTimeout(timer);
  return fates;
}

function fateOf({ outcome, backend, firstTokenMs, endMs, lateMs, retried }: LoadResult): Fate {
  const name = nameOf(outcome);
  const failure = name === 'failed' ? wordsOf(outcome) : undefined;
  const overrun = outcome.kind === 'overrun';
  return { outcome: name, backend, firstTokenMs, endMs, lateMs, retried, overrun, failure };
}

function nameOf({ kind }: Outcome): OutcomeName {
  switch (kind) {
    case 'ok':
      return 'ok';
    case 'no_upstream':
      return 'shed';
    case 'left':
      return 'cancelled';
    case 'aborted':
    case 'timeout':
      return 'unfinished';
    case 'status':
    case 'refused':
    case 'reset':
    case 'error':
    case 'cut':
    case 'overrun':
      return 'failed';
  }
}

function wordsOf(outcome: Outcome): string {
  if (outcome.kind === 'status') return `status ${outcome.status} ${outcome.body}`;
  return 'message' in outcome ? `${outcome.kind} ${outcome.message}` : outcome.kind;
}
