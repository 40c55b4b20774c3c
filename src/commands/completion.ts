import type { Command } from 'commander';
import { bashCompletion } from './bash-completion.ts';
import { completionTree } from './completion-tree.ts';
import { zshCompletion } from './zsh-completion.ts';

export type Shell = 'bash' | 'zsh';

/** Prints a script that makes the shell complete the commands, options and values of `program`. */
export function completion(
  { program, shell }: { readonly program: Command; readonly shell: Shell },
  io: { readonly out: (text: string) => void },
): void {
  const tree = completionTree(program);
  io.out(shell === 'bash' ? bashCompletion(tree) : zshCompletion(tree));
}
