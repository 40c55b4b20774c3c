/** What can be done with a stream: `none`, nothing but text; `plain`, its cursor can be moved; `colored`, its text painted too. */
export type TerminalKind = 'none' | 'plain' | 'colored';

/** @param env `TERM=dumb` stands for a terminal that knows no escapes, as an editor's shell; `NO_COLOR` is heeded. */
export function terminalKind(
  { isTTY }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): TerminalKind {
  if (isTTY !== true || env['TERM'] === 'dumb') return 'none';
  return (env['NO_COLOR'] ?? '') === '' ? 'colored' : 'plain';
}
