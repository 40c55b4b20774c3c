import type { Argument, Command, Option } from 'commander';

export type Values =
  | { readonly kind: 'choices'; readonly of: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'any' };

export interface Switch {
  /** `-h` and `--help`. */
  readonly names: readonly string[];
  readonly description: string;
  /** What comes after it; undefined: nothing. */
  readonly values: Values | undefined;
}

/** A command with what can stand after it. */
export interface Branch {
  readonly name: string;
  /** One sentence. */
  readonly description: string;
  readonly switches: readonly Switch[];
  /** What its arguments may be. */
  readonly values: Values;
}

/** What a shell can complete of a program. */
export interface CompletionTree {
  readonly program: string;
  readonly switches: readonly Switch[];
  readonly commands: readonly Branch[];
}

/** @param program has commands, but they have none */
export function completionTree(program: Command): CompletionTree {
  const help = program.createHelp();
  const visible = help.visibleCommands(program);
  const names: Values = { kind: 'choices', of: visible.map((command) => command.name()) };
  const commands = visible.map((command) => {
    const branch = branchOf(command);
    return branch.name === 'help' ? { ...branch, switches: [], values: names } : branch;
  });
  return { program: program.name(), switches: help.visibleOptions(program).map(switchOf), commands };
}

function branchOf(command: Command): Branch {
  const switches = command.createHelp().visibleOptions(command).map(switchOf);
  const known = command.registeredArguments.map(valuesOf).find(({ kind }) => kind !== 'any');
  const values = known ?? { kind: 'any' };
  const [description = ''] = command.description().split(/(?<=\.) /);
  return { name: command.name(), description, switches, values };
}

function switchOf(option: Option): Switch {
  const names = [option.short, option.long].filter((name) => name != null);
  const values = option.required || option.optional ? valuesOf(option) : undefined;
  return { names, description: option.description, values };
}

/** What is called `<file>` is one. */
function valuesOf(of: Option | Argument): Values {
  if (of.argChoices !== undefined) return { kind: 'choices', of: of.argChoices };
  const name = 'flags' in of ? (/[<[]([^>\]]+)/.exec(of.flags)?.[1] ?? '') : of.name();
  return { kind: name.toLowerCase() === 'file' ? 'files' : 'any' };
}
