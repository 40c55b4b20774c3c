import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ALONE } from '../../support/together.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('test files that share a process: hooks of a whole file are hooks of its own tests, and all is loaded before they run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-together-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['one', 'two', 'three']) {
    const hooks = ['before', 'beforeEach', 'afterEach', 'after'];
    const lines = hooks.map((hook) => `${hook}(() => say('${hook}'));`);
    writeFileSync(
      join(folder, `${name}.mjs`),
      `import { ${hooks.join(', ')}, test } from 'node:test';
       const say = (what) => console.log('${name}: ' + what);
       say('loaded');
       ${lines.join('\n')}
       test('test', () => say('test'));`,
    );
  }
  const module = new URL('../../support/run-together.ts', import.meta.url).href;
  const program = `import(${JSON.stringify(module)}).then(({ runTogether }) => runTogether({
    one: () => import(${JSON.stringify(join(folder, 'one.mjs'))}),
    two: () => import(${JSON.stringify(join(folder, 'two.mjs'))}),
    three: () => import(${JSON.stringify(join(folder, 'three.mjs'))}),
  }));`;
  const args = ['--import', 'tsx', '--test-reporter=tap', '--input-type=module', '--eval', program];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const output = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', env });
  const course = ['before', 'beforeEach', 'test', 'afterEach', 'after'];
  assert.deepEqual(
    output.split('\n').filter((line) => /^(one|two|three): /.test(line)),
    [
      ...['one', 'two', 'three'].map((name) => `${name}: loaded`),
      ...['one', 'two', 'three'].flatMap((name) => course.map((what) => `${name}: ${what}`)),
    ],
  );
  assert.match(output, /^# pass 3$/m);
});

test('those that wait before their tests are known, or look at the process as a whole, have one of their own', () => {
  const files = ['unit', 'golden'].flatMap((folder) =>
    readdirSync(join(root, 'test', folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join('test', folder, file)),
  );
  assert.deepEqual(
    ALONE.filter((file) => !files.includes(file)),
    [],
  );
  for (const file of files.filter((one) => !ALONE.includes(one))) {
    const text = readFileSync(join(root, file), 'utf8');
    assert.doesNotMatch(text, /^(await|(const|let|export|for|if)\b(?!.*\basync\b).*\bawait)\b/m, file);
    assert.doesNotMatch(text, /\bprocess\.(getActiveResourcesInfo|memoryUsage|on)\(/, file);
  }
});
