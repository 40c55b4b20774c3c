import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command, CommanderError, Option } from 'commander';
import { checkHelp, checkNeeded, must } from '../../../src/commands/usage-errors.ts';

/** What a program like ours says to these arguments. */
async function said(...args: readonly string[]): Promise<string> {
  let text = '';
  const program = new Command('p').exitOverride().hook('preAction', (_, command) => checkNeeded(command));
  program.configureOutput({ writeErr: (added) => (text += added) });
  program
    .command('validate')
    .addOption(must(new Option('--config <file>')))
    .action(() => {
      text += 'acted';
    });
  try {
    checkHelp(program, args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return text;
}

test('a slip in the name of an option that must be there is told as a slip', async () => {
  assert.equal(
    await said('validate', '--confg', 'x'),
    "error: unknown option '--confg'\n(Did you mean --config?)\n",
  );
  assert.equal(await said('validate'), "error: required option '--config <file>' not specified\n");
  assert.equal(await said('validate', '--config', 'x'), 'acted');
});

test('help of a command that is not there says so', async () => {
  assert.equal(await said('help', 'nosuch'), "error: unknown command 'nosuch'\n");
  assert.equal(await said('help', 'validat'), "error: unknown command 'validat'\n(Did you mean validate?)\n");
});
