import type { Command, Option } from 'commander';
import { nearest } from '../config/nearest.ts';

/** Options that a command cannot do without. */
const needed = new WeakSet<Option>();

/**
 * Makes an option one that a command cannot do without. Commander's own check comes before the one of unknown options,
 * so that a slip in its name would be told as its absence.
 */
export function must(option: Option): Option {
  needed.add(option);
  return option;
}

/** To be called before a command acts. @throws CommanderError */
export function checkNeeded(command: Command): void {
  for (const option of command.options) {
    if (needed.has(option) && command.getOptionValue(option.attributeName()) === undefined)
      command.error(`error: required option '${option.flags}' not specified`);
  }
}

/**
 * For `help NAME` commander prints the help of the program where there is no such command, and no reason.
 * @throws CommanderError
 */
export function checkHelp(program: Command, [word, name]: readonly string[]): void {
  if (word !== 'help' || name === undefined || name.startsWith('-')) return;
  const names = program.commands.map((command) => command.name());
  if (name === 'help' || names.includes(name)) return;
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
  program.error(`error: unknown command '${name}'${hint}`);
}
