import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { FOLLOWING, HELD } from '../looks.ts';
import type { PlaneHandle, Row } from '../model.ts';
import { labOf } from '../pick.ts';
import { Program } from '../program.ts';
import { RECONNECTED, REFUSED } from './one-plane.ts';

const RESTARTS = 20;
/** Little more than a fleet of ten needs. */
const HEAP_MIB = 32;

export const CONTROL_PLANE: readonly Row[] = [
  {
    part: 'control-plane',
    name: 'killed and restarted',
    happens: 'it is killed (SIGKILL) and started again 1 s later',
    faultsOwn: 'none',
    fault: ({ plane }) => ({ targets: [], apply: () => plane.kill(), undo: () => plane.restart() }),
    holdSeconds: 1,
    throughout: HELD,
    recover: RECONNECTED,
    // the first assignment of the new one
    extraPushes: 1,
    short: true,
  },
  {
    part: 'control-plane',
    name: 'killed and restarted 20 times',
    happens: 'it is killed (SIGKILL) 20 times, each time as soon as it is ready again',
    faultsOwn: 'none',
    fault: ({ plane }) => ({
      targets: [],
      apply: async () => {
        for (let count = 0; count < RESTARTS; count++) {
          await plane.kill();
          await plane.restart();
        }
      },
      undo: () => Promise.resolve(),
    }),
    holdSeconds: 0,
    throughout: HELD,
    recover: RECONNECTED,
    extraPushes: RESTARTS,
  },
  {
    part: 'control-plane',
    name: 'stopped for 30 s',
    happens: 'SIGSTOP, and SIGCONT 30 s later',
    faultsOwn: 'none',
    fault: ({ plane }) => ({
      targets: [],
      apply: async () => plane.freeze(),
      undo: async () => plane.thaw(),
    }),
    holdSeconds: 30,
    throughout: HELD,
    recover: RECONNECTED,
  },
  {
    part: 'control-plane',
    name: 'event loop blocked',
    happens: 'its event loop stands for 5 s',
    faultsOwn: 'none',
    fault: ({ plane }) => ({
      targets: [],
      // ends by itself
      apply: () => plane.hook('block', 5_000),
      undo: () => Promise.resolve(),
    }),
    holdSeconds: 0,
    throughout: HELD,
    recover: { withinSeconds: 3 },
  },
  {
    part: 'control-plane',
    name: 'out of file descriptors',
    happens:
      'it may open no more files, sidecars lose their connections, and it is told to reload; so for 10 s',
    faultsOwn: 'none',
    fault: ({ plane, wires }) => ({
      targets: [],
      apply: async () => {
        // numbers that are taken since the start
        await plane.limitFiles(10);
        for (const wire of wires) wire.cut();
        process.kill(plane.pid, 'SIGHUP');
      },
      undo: async () => {
        await plane.limitFiles(undefined);
        await plane.configure({});
      },
    }),
    holdSeconds: 10,
    notice: {
      what: 'the reload is refused, by metric, and no sidecar has a stream',
      withinSeconds: 4,
      when: ({ plane }) => plane?.reloaded === 0 && plane.streams === 0,
    },
    throughout: HELD,
    recover: RECONNECTED,
  },
  {
    part: 'control-plane',
    name: 'disk full for a recording',
    happens: '`plimsoll record --for 30s` writes to a disk that is full',
    faultsOwn: 'none',
    fault: (stage) => {
      const recording = new Program([
        labOf(stage).program,
        'record',
        '--for',
        '30s',
        '--admin',
        `http://${stage.plane.admin}`,
        '/dev/full',
      ]);
      return {
        targets: [],
        apply: () => recording.start(),
        undo: () => recording.stop(),
        told: () => recording.code === 1 && recording.output.includes('cannot be written any more'),
      };
    },
    holdSeconds: 2,
    notice: {
      what: 'the recording ends with exit code 1 and says why',
      // what it has is written every 5 s
      withinSeconds: 12,
      when: ({ told }) => told === true,
    },
    throughout: FOLLOWING,
    recover: { withinSeconds: 3 },
    needsLab: true,
  },
  {
    part: 'control-plane',
    name: 'memory limit near',
    happens: `it runs for 15 s with a heap of at most ${HEAP_MIB} MiB`,
    faultsOwn: 'none',
    fault: ({ plane }) => ({
      targets: [],
      apply: async () => {
        await plane.kill();
        await plane.restart([`--max-old-space-size=${HEAP_MIB}`]);
      },
      undo: async () => {
        await plane.kill();
        await plane.restart();
      },
    }),
    holdSeconds: 15,
    throughout: HELD,
    recover: RECONNECTED,
    extraPushes: 2,
  },
  {
    part: 'control-plane',
    name: 'wall clock set back',
    happens: 'its wall clock is set back by an hour, and forward again 8 s later',
    faultsOwn: 'none',
    fault: ({ plane }) => ({
      targets: [],
      apply: () => plane.hook('clock', -3_600_000),
      undo: () => plane.hook('clock', 0),
    }),
    holdSeconds: 8,
    throughout: FOLLOWING,
    recover: { withinSeconds: 3 },
  },
  configuration('garbage', 'is replaced by random bytes', async ({ file }) => {
    await writeFile(file, garbage());
  }),
  configuration('empty', 'is emptied', async ({ file }) => {
    await writeFile(file, '');
  }),
  configuration('gone', 'is removed', async ({ file }) => {
    await rm(file);
  }),
  configuration('a directory', 'is replaced by a directory', async ({ file }) => {
    await rm(file);
    await mkdir(file);
  }),
];

function configuration(name: string, becomes: string, spoil: (plane: PlaneHandle) => Promise<void>): Row {
  return {
    ...REFUSED,
    part: 'control-plane',
    name: `configuration ${name}`,
    happens: `the configuration file ${becomes} for 5 s, and it is told to reload`,
    fault: ({ plane }) => ({
      targets: [],
      apply: async () => {
        await spoil(plane);
        process.kill(plane.pid, 'SIGHUP');
      },
      undo: async () => {
        await rmdir(plane.file).catch(() => undefined);
        await plane.configure({});
      },
    }),
    holdSeconds: 5,
  };
}

/** Bytes that are neither UTF-8 nor YAML. */
function garbage(): Buffer {
  return Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 197 + 113) % 256));
}
