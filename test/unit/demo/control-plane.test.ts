import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ControlPlane, plimsollOutput } from '../../../src/demo/control-plane.ts';

/** Programs in the place of Plimsoll. */
const PROGRAMS = {
  good: "console.log(process.argv.slice(2).join(' '))",
  hangs: 'setInterval(() => undefined, 1000)',
  complains: "process.stderr.write('a reason\\n'); process.exitCode = 64",
  silent: 'process.exitCode = 3',
};

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-output-'));
  for (const [name, text] of Object.entries(PROGRAMS)) await writeFile(program(name), text);
});
after(() => rm(folder, { recursive: true }));

function program(name: string): string {
  return join(folder, `${name}.cjs`);
}

function output(name: keyof typeof PROGRAMS, seconds = 60): Promise<string> {
  const { signal } = new AbortController();
  return plimsollOutput(['bootstrap', '--node-id', 'demo'], signal, { program: program(name), seconds });
}

describe('what a command of the demo prints', () => {
  test('is given back when it ends well', async () => {
    assert.equal(await output('good'), 'bootstrap --node-id demo\n');
  });

  const failures: readonly (readonly [keyof typeof PROGRAMS, number, string])[] = [
    ['hangs', 0.2, 'not done within 0.2 s (is this machine busy?), and said nothing'],
    ['complains', 60, 'ended with 64, and said\na reason'],
    ['silent', 60, 'ended with 3, and said nothing'],
  ];
  for (const [name, seconds, reason] of failures) {
    test(`or it is told what happened: it ${name}`, async () => {
      await assert.rejects(output(name, seconds), {
        code: 'io',
        message: `plimsoll bootstrap --node-id demo: ${reason}`,
      });
    });
  }

  test('or the reason of who gives up', async () => {
    const reason = new Error('Ctrl-C');
    const given = plimsollOutput([], AbortSignal.abort(reason), { program: program('hangs') });
    await assert.rejects(given, reason);
  });
});

test('a control plane that is not ready in its time may be one of a busy machine', async () => {
  const start = ControlPlane.start({ config: 'f', program: program('hangs'), readySeconds: 0.2 });
  await assert.rejects(
    start,
    /^PlimsollError: plimsoll serve: not ready within 0\.2 s \(is this machine busy\?\); /,
  );
});
