import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GroupDecision } from '../core/model/decision.ts';
import { type ExplainInput, explainBackend, explainGroup, shownDecision } from './explain.ts';
import type { DecisionExplanation } from './explanation.ts';

/** Characters that are made at a time: some fifty backends, in a few milliseconds. */
const BATCH_LENGTH = 64 * 1024;

/**
 * The JSON of what {@link explainGroup} makes, a part at a time: of a group of ten thousand backends it takes a good
 * part of a second, and between the parts collections and sidecars get their turn.
 */
export async function* explanationJson(input: ExplainInput): AsyncGenerator<string> {
  let batch = '';
  for (const piece of pieces(input)) {
    batch += piece;
    if (batch.length < BATCH_LENGTH) continue;
    yield batch;
    batch = '';
    await nextTurn();
  }
  yield batch;
}

function* pieces(input: ExplainInput): Generator<string> {
  const { published, newest, ...group } = explainGroup({ ...input, wanted: () => false });
  const { status } = input;
  yield `${opened(group)},"published":`;
  yield* withBackends(published, shownDecision(status), input);
  yield ',"newest":';
  if (newest === null) yield 'null';
  else yield* withBackends(newest, status.newest, input);
  yield '}';
}

/** @param around the explanation of `of` without its backends, and what stands beside it. */
function* withBackends(
  around: { readonly decision: DecisionExplanation },
  of: GroupDecision,
  { wanted }: ExplainInput,
): Generator<string> {
  const { decision, ...beside } = around;
  const { backends: _, ...head } = decision;
  yield `${opened(beside)},"decision":${opened(head)},"backends":[`;
  let separator = '';
  for (const backend of of.backends) {
    if (!wanted(backend)) continue;
    yield separator + JSON.stringify(explainBackend(backend, of.atMs));
    separator = ',';
  }
  yield ']}}';
}

/** An object's JSON, not closed. */
function opened(fields: object): string {
  return JSON.stringify(fields).slice(0, -1);
}
