import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { limitIn } from '../../../src/runtime/open-files.ts';

const PROGRAM = new URL('../../../src/runtime/open-files.ts', import.meta.url).href;

test('three quarters of the limit of the process are for sidecars, an eighth for the admin address', () => {
  const script = `import('${PROGRAM}').then((room) => console.log(room.roomForConnections(), room.roomForAdmin()))`;
  const shell = `ulimit -n 321 && exec "$0" --import tsx --input-type=module -e "$1"`;
  assert.equal(
    execFileSync('sh', ['-c', shell, process.execPath, script], { encoding: 'utf8' }).trim(),
    '240 40',
  );
});

test('what has no limit, or does not tell, is unlimited', () => {
  const line = 'Max open files            unlimited            unlimited            files     \n';
  assert.equal(limitIn(`Max cpu time 1 2 s\n${line}`), Number.POSITIVE_INFINITY);
  assert.equal(limitIn(line.replaceAll('unlimited', '4096')), 4096);
  assert.equal(limitIn(''), Number.POSITIVE_INFINITY);
});
