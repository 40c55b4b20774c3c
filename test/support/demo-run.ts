import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { demo } from '../../src/demo/demo.ts';

/** Command lines of the living children of this process. */
export function children(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const parent = /\) \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
        return Number(parent) === process.pid ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : [];
      } catch {
        return []; // it has just ended
      }
    })
    .filter((command) => /envoy|serve/.test(command));
}

interface DemoRun {
  readonly code: number;
  readonly out: string;
  readonly shown: readonly string[];
}

/** Runs a demo, the shortest whose checks hold for sure, that stays up until `stop` aborts. */
export async function runDemo(
  stop: AbortController,
  onShown: (text: string) => void = () => {},
): Promise<DemoRun> {
  const shown: string[] = [];
  let out = '';
  const code = await demo(
    { seconds: 60, backends: 4, seed: 1, json: true, keep: true },
    {
      out: (text) => {
        out += text;
      },
      display: {
        write: (text) => {
          shown.push(text);
          onShown(text);
        },
        columns: undefined,
        color: false,
      },
      signal: stop.signal,
    },
  );
  return { code, out, shown };
}

/** The same, until something is shown that matches `until`. */
export function runDemoUntil(until: RegExp): Promise<DemoRun> {
  const stop = new AbortController();
  return runDemo(stop, (text) => {
    if (!until.test(text)) return;
    assert.equal(children().length, 2, children().join('\n'));
    stop.abort();
  });
}
