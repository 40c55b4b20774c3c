import { z } from 'zod';
import { WEIGHT } from '../../core/limits.ts';
import { choice, integer, listOfAtLeastOne, map, number } from '../fields.ts';

/** From this Interval on, in seconds, a mark keeps a backend out longer than its queue lasts: the marks are wider. */
const LONG_INTERVAL_SECONDS = 10;

/** Default marks of TotalQueuedRequests. */
export function defaultQueueMarks(intervalSeconds: number): {
  readonly Mark: number;
  readonly Clear: number;
} {
  return intervalSeconds < LONG_INTERVAL_SECONDS ? { Mark: 10, Clear: 3 } : { Mark: 40, Clear: 10 };
}

const mark = integer(1, 1_000_000);
const clear = integer(0, 999_999);

const scorer = map({
  Name: choice(['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'])
    .describe('The metric that is scored.')
    .meta({ examples: ['TotalQueuedRequests'] }),
  Weight: integer(WEIGHT.min, WEIGHT.max)
    .describe("The scorer's share after linear normalisation.")
    .meta({ examples: [50] }),
}).describe('A metric that makes the weights.');

const saturation = map(
  {
    TotalQueuedRequests: map({
      Mark: mark
        .optional()
        .describe('Saturated above this many queued requests. Default: 10, from Interval 10 on 40.')
        .meta({ examples: [20] }),
      Clear: clear
        .optional()
        .describe('No longer saturated at or below this many. Default: 3, from Interval 10 on 10.')
        .meta({ examples: [5] }),
    })
      .prefault({})
      .describe('Marks by queued requests.'),
    KVCacheUtilization: map({
      Mark: number(0, 1)
        .default(0.98)
        .describe('Saturated from this utilisation on while more than Clear requests are queued.')
        .meta({ examples: [0.95] }),
    })
      .prefault({})
      .describe('Mark by utilisation of the KV cache.'),
    RunningRequests: map({
      Mark: mark.describe('Saturated above this many running requests.').meta({ examples: [256] }),
      Clear: clear.describe('No longer saturated at or below this many.').meta({ examples: [200] }),
    })
      .optional()
      .describe('Marks by running requests. Default: none.'),
    Admission: choice(['Proportional', 'None'])
      .default('Proportional')
      .describe(
        'Proportional: when requests queue everywhere, sidecars refuse a share of them beforehand, so that those that ' +
          'are accepted get their first token in time. None: marks only.',
      ),
  },
  'false or a map',
);

export const scheduler = map({
  Scorers: listOfAtLeastOne(scorer, 'scorer').describe('The metrics that make the weights.'),
  Policy: choice(['Adaptive', 'Linear'])
    .default('Adaptive')
    .describe('Adaptive: feedback towards fair shares. Linear: the normalised score itself.'),
  Saturation: z
    .union([z.literal(false), saturation], { error: 'false or a map' })
    .prefault({})
    .describe('When a backend takes no more requests; false: never.'),
  OnCollectFailure: choice(['Keep', 'Remove'])
    .default('Keep')
    .describe(
      'A backend whose collection fails is kept near the lowest weight, or removed until it answers.',
    ),
});
