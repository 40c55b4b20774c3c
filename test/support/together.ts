/**
 * Folders below test/unit of functions, without sockets, processes or timers. A process starts and loads what is tested for a
 * second, longer than most of these files run, so that a few share one. Hooks of a whole file would be hooks of all.
 */
export const TOGETHER = ['core', 'config', 'bench', 'soak', 'admin/page', 'admin/words', 'xds/resources'].map(
  (folder) => `test/unit/${folder}/`,
);
