import { at } from './at.ts';
import { groupBasisOf } from './basis.ts';
import { capacitiesOf } from './capacity.ts';
import { backendDecisions } from './decision.ts';
import { noteDraining } from './draining.ts';
import { type Freshness, judgeFreshness } from './freshness.ts';
import { healthsOf, marksAfter } from './health.ts';
import { keepsWeights, keptWeights } from './kept.ts';
import { observeLag, rememberShares, sharesSeen, withoutLag } from './lag.ts';
import { preferenceOf, preferHome } from './locality.ts';
import { remember } from './memory.ts';
import { bringsWhatComes, isClosed, type LoopInput, teaches, underShareInForce } from './loop.ts';
import type { CollectRun } from './model/collection.ts';
import type { GroupDecision } from './model/decision.ts';
import type { LoadAwareSettings, ServerGroup } from './model/server-group.ts';
import { evaluatePlain } from './plain.ts';
import { once } from './once.ts';
import type { Outcome } from './outcome.ts';
import { observePace, tokensPerSecondOf } from './prompts.ts';
import { areEqual } from './dither.ts';
import { configuredPublication, nextPublication, proposalOf, unhealthyOf } from './publication.ts';
import { observeStay, stayObservation } from './residence.ts';
import { stepSeconds } from './run-step.ts';
import { rosterOf, withoutSleepers } from './roster.ts';
import { shed } from './shedding.ts';
import { slowStartLimit } from './slow-start.ts';
import { progressesOf } from './progress.ts';
import { observePaces, speedsOf } from './speed.ts';
import { carryOver, type GroupState, initialState } from './state.ts';
import { intakesOf, observeTrust } from './trust.ts';
import { observeSaturated, saturatedPart } from './widely-saturated.ts';
import { warningsOf } from './warnings.ts';
import { configuredWeights, unweighed, type Weighing, type WeighingInput, weigh } from './weighing.ts';

export { evaluatePlain, type GroupState, initialState };

export interface EvaluateInput extends LoopInput {
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
  const all = rosterOf(group.servers, before.roster);
  const { memories: past, ...learned } = carryOver(before, all, nowMs);
  const memories = all.backends.map(({ id, draining = false }, index) =>
    remember(
      noteDraining(at(past, index), draining, nowMs),
      run.outcomes.get(id),
      settings,
      tokensPerSecondOf(before.promptPace, at(all.shares, index)),
      { startedAtMs: run.startedAtMs, nowMs },
    ),
  );
  const roster = withoutSleepers(all, (index) => at(memories, index).asleepAtMs !== undefined);
  const freshness = judgeFreshness({
    roster,
    memories,
    settings,
    nowMs,
    published: keepsWeights(before.computed, roster),
  });
  const elapsedSeconds = (nowMs - (before.evaluatedAtMs ?? nowMs)) / 1000;
  const { intervalSeconds } = settings.collect;
  const times = { nowMs, elapsedSeconds, intervalSeconds };
  const progresses = progressesOf(past, memories, roster.shares, intervalSeconds);
  const preference = preferenceOf(group, roster);
  const trust = observeTrust(learned.trust, {
    progresses,
    counts: (index) => at(freshness.uses, index) === 'fresh' && !at(memories, index).mark.saturated,
    shares: bringsWhatComes(before, input) ? sharesSeen(learned.lag, times) : undefined,
    zones: preference.zones,
    ...times,
  });
  const observed = stayObservation(progresses, memories, roster.shares, before.stay, times);
  const stay = observeStay(before.stay, observed);
  const lag =
    group.keepsSessions === true
      ? withoutLag(learned.lag)
      : observeLag(learned.lag, {
          progresses,
          counts: (index) => at(freshness.uses, index) === 'fresh' && at(roster.shares, index) > 0,
          ...times,
        });
  const counts = (index: number): boolean =>
    at(freshness.uses, index) === 'fresh' &&
    slowStartLimit(at(memories, index).joinedAtMs, nowMs) === undefined;
  const closed = isClosed(before, input);
  const out = unhealthyOf(before.published);
  const taught = teaches(before, input);
  const { collectedAtMs } = before;
  const apartSeconds = collectedAtMs === undefined ? undefined : (run.startedAtMs - collectedAtMs) / 1000;
  const paces = observePaces(learned.paces, progresses, counts, times);
  const promptPace = observePace(
    before.promptPace,
    { past, present: memories },
    roster.shares,
    (index) => at(freshness.uses, index) === 'fresh',
    times,
  );
  const speeds = speedsOf(paces, memories, roster.shares, trust.doubted);
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
    learns: (index) => taught && counts(index) && !out.has(at(roster.backends, index).id),
    stepSeconds: stepSeconds(apartSeconds, intervalSeconds),
    zones: preference.zones,
    trusts: trust.values,
    promptPace,
    wereEqual: before.computed !== undefined && areEqual(before.computed.weights),
    refuses: before.admission.share > 0,
  });

  const { admission, decision: shedding } = shed(
    closed ? before.admission : underShareInForce(before, input),
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
    published: before.computed,
  });
  const proposal = proposalOf(roster, weights, (index) => at(healths, index), admission.share);
  const observing = group.mode === 'Observe';
  const variants = preferHome(before.zones, preference.zones, {
    group,
    settings,
    nowMs,
    all,
    roster,
    memories,
    freshness,
    weighing,
    healths,
    dropShare: proposal.dropShare,
    times: {
      elapsedSeconds,
      intervalSeconds,
      delaySeconds: delaySeconds + 2 * lag.seconds,
      staySeconds: stay.seconds,
    },
  });
  const told = observing ? before.computed : before.published;
  // by what is almost equal sidecars do as by any other weights
  const levels = weighing.alike && told !== undefined && !areEqual(told.weights) ? 'shares' : undefined;
  const { published: computed, publish: next } = nextPublication(
    group,
    proposal,
    told,
    (observing ? undefined : variants.reason) ?? levels,
  );
  const { published, publish = variants.reason } = observing
    ? configuredPublication(group, roster, before.published)
    : { published: computed, publish: next };
  const zones = variants.told(publish);
  const widelySaturated = observeSaturated(before.widelySaturated, computed.health, nowMs);
  const state = {
    evaluatedAtMs: nowMs,
    collectedAtMs: run.startedAtMs,
    roster: all,
    departed: learned.departed,
    memories: marksAfter(admission, memories),
    residuals: weighing.capacities.residuals,
    paces,
    promptPace,
    trust,
    stay,
    lag: rememberShares(lag, published, observing ? undefined : weights, roster, times),
    admission,
    published,
    computed,
    zones: zones.memories,
    widelySaturated,
  };
  const outcome: Outcome = {
    group,
    settings,
    nowMs,
    roster,
    memories,
    freshness,
    paces,
    doubted: trust.doubted,
    intakes: once(() => intakesOf(trust, preference.zones)),
    weighing,
    sparedUpTo: admission.sparedUpTo,
    published: computed,
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
    observing,
    computed: computed.assignment,
    assignment: published.assignment,
    ...(preference.zones && { zones: zones.decisions }),
    publish,
    warnings: warningsOf({
      settings,
      roster,
      memories,
      freshness,
      doubted: trust.doubted,
      lacking: weighing.lacking,
      shedding,
      saturated: saturatedPart(widelySaturated, nowMs),
      observing,
      zones: preference.warning,
    }),
    get basis() {
      return outcome.basis();
    },
  };
  return { state, decision };
}

function weighFor({ computed }: GroupState, input: WeighingInput): Weighing {
  const { roster, memories, freshness, capacities, nowMs } = input;
  switch (freshness.kind) {
    case 'seen':
      return weigh(input);
    case 'kept':
      return unweighed(
        computed === undefined
          ? configuredWeights(roster, freshness)
          : keptWeights(computed, roster, memories, nowMs),
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
