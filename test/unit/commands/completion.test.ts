import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { examplesOf } from '../../../src/commands/examples.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

async function plimsoll(...args: readonly string[]): Promise<string> {
  return (await run(process.execPath, ['--import', 'tsx', MAIN, ...args])).stdout;
}

/** What a help lists under `Commands:` or `Options:`. */
function listed(help: string, heading: string): readonly string[] {
  const [, block = ''] = new RegExp(`^${heading}:\\n((?: .*\\n?)+)`, 'm').exec(help) ?? [];
  return [...block.matchAll(/^ {2}(?:-\w, )?(--)?([a-z][\w-]*)/gm)].map(
    ([, dashes = '', name]) => dashes + name,
  );
}

const help = await plimsoll('--help');
const commands = listed(help, 'Commands').filter((name) => name !== 'help');
const helps = new Map(
  await Promise.all(commands.map(async (name) => [name, await plimsoll(name, '--help')] as const)),
);
const bash = await plimsoll('completion', 'bash');

/** What bash offers at the end of `line`, of which each string is a word as bash splits it. */
async function offers(...line: readonly string[]): Promise<readonly string[]> {
  const script = `${bash}
compopt() { COMPREPLY=("compopt $*"); }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_plimsoll
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-u', '-c', script, 'bash', ...line]);
  return stdout.split('\n').filter((word) => word !== '');
}

test('bash offers every command', async () => {
  assert.ok(commands.length >= 7);
  const offered = await offers('plimsoll', '');
  assert.deepEqual(new Set(offered), new Set([...commands, 'help']));
  assert.deepEqual(await offers('plimsoll', 'val'), ['validate']);
  assert.deepEqual(await offers('plimsoll', 'help', 'boot'), ['bootstrap']);
});

test('bash offers the options of each command that its help lists', async () => {
  for (const [name, text] of helps) {
    const offered = await offers('plimsoll', name, '--');
    assert.deepEqual(new Set(offered), new Set(listed(text, 'Options')), name);
  }
});

test('bash offers the values of an option, with a space and with =', async () => {
  const modes = ['ads', 'eds'];
  assert.deepEqual(await offers('plimsoll', 'bootstrap', '--mode', ''), modes);
  assert.deepEqual(await offers('plimsoll', 'bootstrap', '--mode', '='), modes);
  assert.deepEqual(await offers('plimsoll', 'bootstrap', '--mode', '=', 'e'), ['eds']);
  assert.deepEqual(await offers('plimsoll', 'completion', ''), ['bash', 'zsh']);
});

test('bash offers files where a file is asked for, and nothing where a number is', async () => {
  const files = ['compopt -o default'];
  assert.deepEqual(await offers('plimsoll', 'serve', '--config', ''), files);
  assert.deepEqual(await offers('plimsoll', 'top', '--ca', '=', 'tls/'), files);
  assert.deepEqual(await offers('plimsoll', 'demo', '--seconds', ''), []);
  // an argument that is called like a command changes nothing
  assert.deepEqual(await offers('plimsoll', 'explain', 'top', '--js'), ['--json']);
});

test('the script for zsh has every command with its options; its structure is what is looked at', async () => {
  const zsh = await plimsoll('completion', 'zsh');
  assert.match(zsh, /^#compdef plimsoll\n/);
  assert.match(zsh, /compdef _plimsoll plimsoll/);
  for (const [name, text] of helps) {
    const [, block = ''] = new RegExp(`^ {8}${name}\\)\\n([^]*?)^ {10};;`, 'm').exec(zsh) ?? [];
    const offered = [...block.matchAll(/^ {12}'(?:\(.*?\))?(--[a-z-]+)/gm)].map(([, option]) => option);
    assert.deepEqual(new Set(offered), new Set(listed(text, 'Options')), name);
    assert.ok(zsh.includes(`'${name}:`), name);
  }
  assert.match(zsh, /'--config=\[.*\]: :_files'/);
  assert.match(zsh, /'--mode=\[.*\]: :\(ads eds\)'/);
});

test('each command has examples in its help, and their options exist', () => {
  for (const [name, text] of helps) {
    const examples = examplesOf(name);
    assert.ok(text.includes(examples) && examples !== '', `${name} has examples`);
    const lines = examples.split('\n').filter((line) => line.includes(`plimsoll ${name}`));
    assert.ok(lines.length > 0, name);
    for (const line of lines) {
      const used = line.split('|')[0]?.match(/--[a-z][a-z-]*/g) ?? [];
      const known = listed(text, 'Options');
      assert.deepEqual(
        used.filter((option) => !known.includes(option)),
        [],
        line,
      );
    }
  }
});

test('each option is described', () => {
  for (const [name, text] of [...helps, ['plimsoll', help] as const]) {
    for (const line of text.match(/^ {2}-.*$/gm) ?? []) {
      assert.match(line, /^ {2}-\S+(?:, --\S+)?(?: <\S+>)? {2,}\S/, `${name}: ${line}`);
    }
  }
});

test('another shell is refused', async () => {
  await assert.rejects(plimsoll('completion', 'fish'), { code: 64, stderr: /bash, zsh/ });
});

test('a mistake of arguments begins with the command that it is of', async () => {
  for (const [args, beginning] of [
    [['record', '--for', '30', 'fleet.gz'], 'plimsoll record: option'],
    [['replay'], 'plimsoll replay: missing required argument'],
    [['validate'], 'plimsoll validate: required option'],
    [['nonsense'], 'plimsoll: unknown command'],
  ] as const) {
    await assert.rejects(plimsoll(...args), (error: { readonly code: number; readonly stderr: string }) => {
      assert.deepEqual([error.code, error.stderr.slice(0, beginning.length)], [64, beginning]);
      return true;
    });
  }
});
