import type { Measured } from './measured.ts';
import type { Row } from './model.ts';

/** The rules that every row must hold; a row states its own limits before it is run. */
const MOST_RUSH = 3;
const GROWTH_MIB = 32;
const MORE_HANDLES = 8;
/** Bounds of learned capacity. */
const CAPACITIES = [0.2, 3] as const;
/** A look may come between an evaluation and its push. */
const SURPLUS_PUSHES = 1;
/** What reading a figure takes. */
const SLACK_SECONDS = 0.5;
const MIB = 1024 * 1024;

/** The rules that were broken, in words; none: the row holds. */
export function judge(row: Row, measured: Measured): readonly string[] {
  const { extraPushes = 0, mostShareAfter, growthMiB = GROWTH_MIB } = row;
  const mostRush = mostShareAfter === undefined ? MOST_RUSH : mostShareAfter * 10;
  const { before, after, rush, surplusPushes, capacities } = measured;
  const [least, most] = capacities;
  const pushesMax = Math.ceil(measured.seconds) + 1 + extraPushes;
  const broken: string[] = [];
  const rule = (holds: boolean, text: string): void => {
    if (!holds) broken.push(text);
  };
  rule(
    measured.ours.length === 0,
    `${measured.ours.length} requests failed by our fault: ${examples(measured)}`,
  );
  rule(measured.requests > 0, 'no request was sent');
  if (row.notice !== undefined) {
    const { what, withinSeconds } = row.notice;
    const { noticedSeconds: at } = measured;
    rule(
      at !== undefined && at <= withinSeconds + SLACK_SECONDS,
      `${what}: ${at === undefined ? 'not noticed' : `after ${at.toFixed(1)} s`}, must be within ${withinSeconds} s`,
    );
  }
  const { recoveredSeconds: again } = measured;
  rule(
    again !== undefined && again <= row.recover.withinSeconds + SLACK_SECONDS,
    `recovered ${again === undefined ? 'not' : `after ${again.toFixed(1)} s`}, must be within ${row.recover.withinSeconds} s`,
  );
  const { targetsGetAtMost: share } = row;
  rule(
    share === undefined || !(measured.targetsShare > share),
    `its targets got ${percent(measured.targetsShare)} of the requests, must be at most ${percent(share ?? 0)}`,
  );
  rule(
    measured.brokenAt === undefined,
    `not throughout, first after ${measured.brokenAt?.toFixed(1)} s: ${row.throughout?.what}`,
  );
  rule(!(rush > mostRush), `a stampede: one backend got ${rush.toFixed(1)} times its share`);
  rule(measured.pushes <= pushesMax, `a push storm: ${measured.pushes} pushes, must be at most ${pushesMax}`);
  rule(
    surplusPushes <= SURPLUS_PUSHES + extraPushes,
    `a push storm: ${surplusPushes} pushes more than evaluations, must be at most ${SURPLUS_PUSHES + extraPushes}`,
  );
  rule(
    least >= CAPACITIES[0] - 1e-6 && most <= CAPACITIES[1] + 1e-6,
    `learned capacity from ${least.toFixed(2)} to ${most.toFixed(2)}, must stay within ${CAPACITIES.join(' and ')}`,
  );
  rule(measured.alive && after !== undefined, 'the control plane ended: it needs a restart by hand');
  if (after !== undefined) {
    const growth = (after.memory - before.memory) / MIB;
    const handles = after.handles - before.handles;
    rule(growth <= growthMiB, `memory grew by ${growth.toFixed(0)} MiB, must be at most ${growthMiB} MiB`);
    rule(handles <= MORE_HANDLES, `${handles} more open files, must be at most ${MORE_HANDLES}`);
  }
  return broken;
}

function examples({ ours }: Measured): string {
  return ours
    .slice(0, 3)
    .map(
      ({ kind, detail, backend, sentAt, endedAt }) =>
        `${[kind, detail, backend ?? ''].filter((part) => part !== '').join(' ')} (${sentAt.toFixed(1)} to ${endedAt.toFixed(1)} s)`,
    )
    .join('; ');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
