import type { Played } from './measured.ts';
import type { Failure } from './model.ts';

const MIB = 1024 * 1024;

/** The measured table as Markdown. */
export function tableOf(played: readonly Played[]): string {
  const lines = [
    '| fault | what happens | fails by the fault | by Plimsoll | noticed after | recovered after | to its targets | pushes | memory, MiB | handles | holds |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...played.map(lineOf),
  ];
  return `${lines.join('\n')}\n`;
}

function lineOf({ row, measured, broken }: Played): string {
  const cells =
    measured === undefined
      ? Array.from({ length: 8 }, () => '')
      : [
          `${measured.own.length} of ${measured.requests}${kinds(measured.own)}`,
          String(measured.ours.length),
          measured.noticedSeconds === undefined ? '–' : `${measured.noticedSeconds.toFixed(1)} s`,
          measured.recoveredSeconds === undefined ? 'not' : `${measured.recoveredSeconds.toFixed(1)} s`,
          row.targetsGetAtMost === undefined || Number.isNaN(measured.targetsShare)
            ? '–'
            : `${measured.targetsRequests} (${(measured.targetsShare * 100).toFixed(1)} %)`,
          `${measured.pushes} in ${measured.seconds.toFixed(0)} s`,
          `${mib(measured.before.memory)} → ${measured.after === undefined ? '–' : mib(measured.after.memory)}`,
          `${measured.before.handles} → ${measured.after?.handles ?? '–'}`,
        ];
  const verdict = broken.length === 0 ? 'yes' : `**no**: ${broken.join('; ')}`;
  return `| ${[`${row.part}: ${row.name}`, row.happens, ...cells, verdict].map(cell).join(' | ')} |`;
}

function kinds(failures: readonly Failure[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of failures) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const parts = [...counts].map(([kind, count]) => `${count} ${kind}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function mib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}
