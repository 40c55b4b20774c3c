import { setTimeout as delay } from 'node:timers/promises';
import type { MetricsChange } from '../backend-change.ts';
import { ALL_HEALTHY, areHealthy, everySidecar, everyTarget } from '../looks.ts';
import type { Fault, Look, PlaneLook, Row, Stage } from '../model.ts';
import { metric } from '../observer.ts';
import { share } from '../pick.ts';
import { changed, changing, everyWeight, isUnanswered } from './one-backend.ts';

/** A metrics page that stands still is told from a busy one after this. */
const FROZEN_SECONDS = 10;
/** One that stands still gets a trickle of requests; the first one wakes it. */
const WAKING_SECONDS = 8;
/** What a backend that seems idle may have at first, over its fair tenth, is 1.5. */
const ATTRACTED = {
  what: 'it seems light: its weight is 1.25 times the mean',
  withinSeconds: 15,
  when: everyWeight((timesMean) => timesMean > 1.25),
};
const DOUBTED = {
  what: 'by metric it is doubted: it shows less than it takes',
  // what it took of late are sums over some minutes
  withinSeconds: 300,
  when: ({ plane }: Look): boolean =>
    plane?.backends.every(({ id, target }) => !target || isDoubted(plane, id)) === true,
};
const MOST_ATTRACTED = 0.15;
const OVERFILLED = { withinSeconds: 10, because: 'it has more requests inside than the others' };

/** Engines that serve as before while their metrics pages are silent, wrong, or stand still. */
export const BACKENDS_LYING: readonly Row[] = [
  silent('metrics hung', 'the metrics page of one of ten does not answer for 10 s', { kind: 'hang' }, 10),
  {
    ...silent(
      'metrics 500',
      'the metrics page of one of ten answers 500 for 3 s',
      { kind: 'status', status: 500 },
      3,
    ),
    short: true,
  },
  {
    ...changed('lying idle', 'one of ten tells of no load for 60 s', [
      { metrics: { kind: 'lie', as: 'zero' } },
      { metrics: { kind: 'live' } },
    ]),
    holdSeconds: 60,
    notice: ATTRACTED,
    targetsGetAtMost: MOST_ATTRACTED,
    throughout: ALL_HEALTHY,
    recover: OVERFILLED,
  },
  {
    ...changed('lying idle and slow', 'one of ten tells of no load for 10 minutes and takes twice as long', [
      { metrics: { kind: 'lie', as: 'zero' }, slowness: 2 },
      { metrics: { kind: 'live' }, slowness: 1 },
    ]),
    faultsOwn: 'requests that wait 8 s for it',
    isFaultsOwn: isUnanswered,
    holdSeconds: 600,
    notice: DOUBTED,
    targetsGetAtMost: 0.16,
    recover: {
      withinSeconds: 180,
      because: 'what it took of late is a sum over some minutes',
      when: isBelieved,
    },
  },
  {
    ...changed(
      'frozen at idle',
      'the metrics page of one of ten is that of an idle engine for 60 s, counters too',
      [{ metrics: { kind: 'idle' } }, { metrics: { kind: 'live' } }],
    ),
    holdSeconds: 60,
    notice: { ...DOUBTED, withinSeconds: 60 },
    // what a backend has that is as loaded as the others, and chance
    targetsGetAtMost: 0.13,
    throughout: ALL_HEALTHY,
    recover: OVERFILLED,
  },
  {
    ...changed('lying busy', 'one of ten tells of a million requests for 10 s', [
      { metrics: { kind: 'lie', as: 'max' } },
      { metrics: { kind: 'live' } },
    ]),
    holdSeconds: 10,
    notice: {
      what: 'it is out: unhealthy',
      withinSeconds: 4,
      when: everySidecar(({ target, health }) => !target || health === 'UNHEALTHY'),
    },
    targetsGetAtMost: 0,
    recover: {
      withinSeconds: 90,
      because:
        'how fast a backend serves is a mean over a minute: it seems to have done little with a million requests',
    },
  },
  {
    ...changed(
      'lying at random',
      'the gauges of one of ten are a tenth or ten times of what is true for 20 s',
      [{ metrics: { kind: 'lie', as: 'jumping' } }, { metrics: { kind: 'live' } }],
    ),
    holdSeconds: 20,
    notice: {
      what: 'its weight follows what it says',
      withinSeconds: 10,
      when: everyWeight((timesMean) => timesMean < 0.6),
    },
    targetsGetAtMost: MOST_ATTRACTED,
    recover: { withinSeconds: 3 },
  },
  frozenFull('frozen at saturated', 'half', 0.5),
  {
    ...frozenFull('all frozen at saturated', 'all', 1),
    faultsOwn:
      'requests until it shows that the pages stand still, and while one engine wakes after the other',
    isFaultsOwn: ({ kind, sentAt }, { noticedAt }) => kind === 'shed' && sentAt <= noticedAt + WAKING_SECONDS,
  },
];

/** One backend whose page cannot be read: it keeps its requests, with the weight of the most loaded one. */
function silent(name: string, happens: string, to: MetricsChange, holdSeconds: number): Row {
  return {
    ...changed(name, happens, [{ metrics: to }, { metrics: { kind: 'live' } }]),
    holdSeconds,
    notice: {
      what: 'it counts as loaded as the most loaded one',
      withinSeconds: 5,
      when: everyTarget(({ missed, health }) => missed >= 2 && health === 'HEALTHY'),
    },
    targetsGetAtMost: 0.13,
    throughout: ALL_HEALTHY,
    recover: { withinSeconds: 3 },
  };
}

/**
 * As vLLM after all requests were aborted: the last gauges stay until the next request comes, and an unhealthy backend
 * gets none.
 */
function frozenFull(name: string, who: string, of: number): Row {
  return {
    part: 'backends',
    name,
    happens: `the metrics pages of ${who} stay those of a saturated engine until the next request comes`,
    faultsOwn: 'none',
    fault: (stage) =>
      afterAbort(
        stage,
        changing(share(stage, of), { metrics: { kind: 'stuck' } }, { metrics: { kind: 'live' } }),
      ),
    holdSeconds: FROZEN_SECONDS + 8,
    notice: {
      what: 'they are known to stand still, and get requests again',
      withinSeconds: FROZEN_SECONDS + 6,
      when: ({ plane }) =>
        plane?.backends.some(({ target, frozen }) => target && frozen) === true && areHealthy(plane),
    },
    throughout: ALL_HEALTHY,
    recover: { withinSeconds: 5 },
  };
}

/** After a caller that had all requests is gone; then with a load that half of the fleet can do with ease. */
function afterAbort({ load }: Stage, fault: Fault): Fault {
  return {
    ...fault,
    apply: async () => {
      load.rate = 0;
      load.abortAll();
      await fault.apply();
      // two collections, so that they are published as saturated
      await delay(2_500);
      load.rate = 0.5 * load.usualRate;
    },
    undo: async () => {
      await fault.undo();
      load.rate = load.usualRate;
    },
  };
}

/** Not doubted any more, and not far below the others. */
function isBelieved(look: Look): boolean {
  const { plane } = look;
  return (
    plane?.backends.some(({ id }) => isDoubted(plane, id)) === false &&
    everyWeight((timesMean) => timesMean > 0.5)(look)
  );
}

function isDoubted({ page }: PlaneLook, id: string): boolean {
  return metric(page, 'plimsoll_backend_doubted', `backend="${id}"`) === 1;
}
