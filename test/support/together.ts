/**
 * Test files of `test/unit` that have a process of their own. A process starts and loads what is tested for a second, longer
 * than most files run, so that the others share one with some more. These look at the process as a whole, at its memory,
 * handles or warnings, replace what all in it use, or wait before their tests are known.
 */
export const ALONE = [
  'admin/pipelining',
  'admin/shared-bytes',
  'collect/hostile-backends',
  'collect/hostile-pages',
  'collect/large-fleet',
  'commands/completion',
  'xds/frozen-clients',
  'xds/fuzz',
  'xds/hostile-connections',
  'xds/server-limits',
].map((name) => `test/unit/${name}.test.ts`);
