import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFile } from '../support/golden.ts';
import { type MetricFamily, metricFamilies } from '../support/metrics-page.ts';

const LIST = new URL('../../deploy/metrics.md', import.meta.url);

/** Those of the process itself are the library's, the same for every program on Node.js. */
const isOurs = ({ name }: MetricFamily): boolean => !/^plimsoll_(process|nodejs)_/.test(name);

test('deploy/metrics.md lists every metric, and no other', async () => {
  const families = (await metricFamilies()).filter(isOurs);
  assert.ok(families.length > 40);
  // else its labels would not be told
  const silent = families.filter(({ hasSeries }) => !hasSeries).map(({ name }) => name);
  assert.deepEqual(silent, []);
  const rows = families
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => {
      const shown = labels.map((label) => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
    });
  assertFile(
    LIST,
    [
      '# Metrics of Plimsoll',
      '',
      'At `/metrics` of the admin address, in base units. Made from the code: `UPDATE_GOLDEN=1 npm test -- golden/metrics`',
      'writes this file anew. The number of series is bounded by the configuration: by server groups and their backends, by',
      'lists of reasons that are closed, and for NACKs by the first 100 nodes. Beside these there are',
      '`plimsoll_process_…` and `plimsoll_nodejs_…`: processor time, memory and handles of the process.',
      '',
      '| metric | type | labels | what it is |',
      '|---|---|---|---|',
      ...rows,
      '',
    ].join('\n'),
  );
});
