import { at } from './at.ts';
import { groupBasisOf } from './basis.ts';
import { capacitiesOf } from './capacity.ts';
import { backendDecisions } from './decision.ts';
import { type Freshness, judgeFreshness } from './freshness.ts';
import { healthsOf } from './health.ts';
import { keepsWeights, keptWeights } from './kept.ts';
import { observeLag, rememberShares } from './lag.ts';
import { remember } from './memory.ts';
import type { CollectRun, GroupDecision, LoadAwareSettings, ServerGroup } from './model.ts';
import { evaluatePlain } from './plain.ts';
import { once } from './once.ts';
import type { Outcome } from './outcome.ts';
import { nextPublication, proposalOf } from './publication.ts';
import { observeStay, stayObservation } from './residence.ts';
import { rosterOf } from './roster.ts';
import { shed } from './shedding.ts';
import { slowStartLimit } from './slow-start.ts';
import { observePaces, speedsOf } from './speed.ts';
import { carryOver, type GroupState, initialState } from './state.ts';
import { warningsOf } from './warnings.ts';
import { configuredWeights, unweighed, type Weighing, type WeighingInput, weigh } from './weighing.ts';

export { evaluatePlain, type GroupState, initialState };

export interface EvaluateInput {
  /** Its backends may be others than at the previous evaluation; what is learned stays with a backend's id. */
  readonly group: ServerGroup;
  readonly nowMs: number;
  /** What arrived since the previous evaluation. */
  readonly run: CollectRun;
  /** d of the rule: from the start of a collection until its weights are in force, s. */
  readonly delaySeconds: number;
}

export interface Evaluation {
  readonly state: GroupState;
  readonly decision: GroupDecision;
}

/**
 * Turns what was collected into weights and health. A decision that has a reason to be published counts as published
 * from then on. A group without a load-aware extension is evaluated plainly and learns nothing.
 */
export function evaluate(before: GroupState, input: EvaluateInput): Evaluation {
  const { group } = input;
  return group.loadAware === undefined
    ? { state: initialState(), decision: evaluatePlain(group, input.nowMs) }
    : evaluateLoad(before, input, group.loadAware);
}

function evaluateLoad(before: GroupState, input: EvaluateInput, settings: LoadAwareSettings): Evaluation {
  const { group, nowMs, run, delaySeconds } = input;
  const roster = rosterOf(group.servers, before.roster);
  const { memories: past, ...learned } = carryOver(before, roster, nowMs);
  const memories = roster.backends.map(({ id }, index) =>
    remember(at(past, index), run.outcomes.get(id), settings, nowMs),
  );
  const freshness = judgeFreshness({
    roster,
    memories,
    settings,
    nowMs,
    published: keepsWeights(before.published, roster),
  });
  const elapsedSeconds = (nowMs - (before.evaluatedAtMs ?? nowMs)) / 1000;
  const { intervalSeconds } = settings.collect;
  const times = { nowMs, elapsedSeconds, intervalSeconds };
  const observed = stayObservation(past, memories, roster.shares, times);
  const stay = observeStay(before.stay, observed);
  const lag = observeLag(learned.lag, {
    past,
    present: memories,
    counts: (index) => at(freshness.uses, index) === 'fresh' && at(roster.shares, index) > 0,
    ...times,
  });
  const learns = (index: number): boolean =>
    at(freshness.uses, index) === 'fresh' &&
    slowStartLimit(at(memories, index).joinedAtMs, nowMs) === undefined;
  const paces = observePaces(learned.paces, { past, present: memories }, learns, {
    elapsedSeconds,
    intervalSeconds,
  });
  const speeds = speedsOf(paces, memories, roster.shares);
  const weighing = weighFor(before, {
    group,
    settings,
    nowMs,
    delaySeconds,
    lagSeconds: lag.seconds,
    staySeconds: stay.seconds,
    roster,
    memories,
    freshness,
    capacities: capacitiesOf(learned.residuals, speeds, roster.shares),
    learns,
  });

  const { admission, decision: shedding } = shed(
    before.admission,
    { past, present: memories },
    freshness,
    settings.balance.saturation,
    { elapsedSeconds, intervalSeconds },
  );
  const { weights } = weighing;
  const healths = healthsOf({
    settings,
    roster,
    memories,
    freshness,
    weights,
    sparedUpTo: admission.sparedUpTo,
    published: before.published,
  });
  const proposal = proposalOf(roster, weights, (index) => at(healths, index), admission.share);
  const { publish, published } = nextPublication(group.name, proposal, before.published);
  const state = {
    evaluatedAtMs: nowMs,
    roster,
    memories,
    residuals: weighing.capacities.residuals,
    paces,
    stay,
    lag: rememberShares(lag, published, roster, times),
    admission,
    published,
  };
  const outcome: Outcome = {
    group,
    settings,
    nowMs,
    roster,
    memories,
    freshness,
    paces,
    weighing,
    sparedUpTo: admission.sparedUpTo,
    published,
    basis: once(() => groupBasisOf(outcome)),
  };
  const decision: GroupDecision = {
    serverGroup: group.name,
    atMs: nowMs,
    collectionStartedAtMs: isSeen(freshness) ? run.startedAtMs : undefined,
    mode: freshness.kind === 'kept' ? 'kept' : weighing.loads === undefined ? 'configured' : 'balanced',
    gain: weighing.gain,
    staySeconds: stay.seconds,
    delaySeconds,
    backends: backendDecisions(outcome),
    admission: shedding,
    assignment: published.assignment,
    publish,
    warnings: warningsOf({
      settings,
      roster,
      memories,
      freshness,
      lacking: weighing.lacking,
      shedding,
      published,
    }),
    get basis() {
      return outcome.basis();
    },
  };
  return { state, decision };
}

function weighFor({ published }: GroupState, input: WeighingInput): Weighing {
  const { roster, memories, freshness, capacities, nowMs } = input;
  switch (freshness.kind) {
    case 'seen':
      return weigh(input);
    case 'kept':
      return unweighed(
        published === undefined
          ? configuredWeights(roster, freshness)
          : keptWeights(published, roster, memories, nowMs),
        capacities,
      );
    case 'blind':
    case 'standstill':
    case 'empty':
      return unweighed(configuredWeights(roster, freshness), capacities);
  }
}

/** Whether somebody answered in this run. */
function isSeen({ kind }: Freshness): boolean {
  return kind === 'seen' || kind === 'standstill';
}
