/**
 * The fault table, measured: `npm run test:faults`. What is measured is described in deploy/faults.md.
 *
 *     WORD …        only the rows whose part or name holds one of them
 *     --short       only the rows of the short form
 *     --long        also the rows that take more than two minutes, which are else only played when a WORD names them
 *     --list        the rows, and what they state before they are run
 *     --json FILE   writes all that was measured
 *     --publish     puts the rows that were played into the table of deploy/faults.md
 *     --program FILE   the main.js of another Plimsoll than the one that stands here
 *
 * The table comes on standard output as Markdown, progress on standard error. Exit code 1 when a row breaks a rule.
 * Linux only.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { EXIT, messageOf } from '../../src/runtime/errors.ts';
import { builtPlimsoll } from '../bench/routing/built-plimsoll.ts';
import { formatDuration } from '../bench/routing/progress.ts';
import { readCommandLine } from '../support/command-line.ts';
import type { Played } from './measured.ts';
import type { Row } from './model.ts';
import { publish } from './published.ts';
import { ROWS } from './rows/all.ts';
import { runRows } from './run-rows.ts';
import { tableOf } from './table.ts';

/** What a row takes beside its own stretch: the settling before it, recovery and aftermath. */
const AROUND_SECONDS = 14;

const LONG_SECONDS = 120;
const PAGE = new URL('../../deploy/faults.md', import.meta.url);

const colour = process.stderr.isTTY && (process.env['NO_COLOR'] ?? '') === '';
const startedMs = performance.now();

process.exitCode = await main();

async function main(): Promise<number> {
  let options;
  try {
    options = readCommandLine(
      import.meta.url,
      {
        short: { type: 'boolean', default: false },
        long: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        json: { type: 'string' },
        publish: { type: 'boolean', default: false },
        program: { type: 'string' },
      },
      { words: true },
    );
  } catch (error) {
    say(messageOf(error));
    return EXIT.usage;
  }
  const { values, positionals: words } = options;
  const rows = ROWS.filter(
    ({ part, name, short, holdSeconds }) =>
      (!values.short || short === true) &&
      (values.long || holdSeconds <= LONG_SECONDS || words.some((word) => name.includes(word))) &&
      (words.length === 0 || words.some((word) => `${part}: ${name}`.includes(word))),
  );
  if (rows.length === 0) {
    say(`no row's part or name holds ${words.join(' or ')}`);
    return EXIT.usage;
  }
  if (values.list) {
    process.stdout.write(`${rows.map(listed).join('\n')}\n`);
    return EXIT.ok;
  }
  const played = await runAll(rows, values.program);
  process.stdout.write(tableOf(played));
  if (values.json !== undefined) writeFileSync(values.json, jsonOf(played));
  if (values.publish) writeFileSync(PAGE, publish(readFileSync(PAGE, 'utf8'), ROWS, played));
  return played.length === rows.length && played.every(({ broken }) => broken.length === 0)
    ? EXIT.ok
    : EXIT.failed;
}

async function runAll(rows: readonly Row[], given: string | undefined): Promise<readonly Played[]> {
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(130);
    say('Interrupted: ends after this row.');
    stop.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const program = given ?? builtPlimsoll();
  let done = 0;
  const left = (): string => formatDuration(rows.slice(done).reduce((sum, row) => sum + secondsOf(row), 0));
  say(`${rows.length} rows, some ${left()}`);
  const played = await runRows({
    rows,
    program,
    signal: stop.signal,
    onAgain: (one) => {
      say(
        `${resultOf(one)}; the machine is busy (${one.measured?.stallSeconds.toFixed(1)} s without a processor): again`,
      );
    },
    onPlayed: (one) => {
      done++;
      const count = `${String(done).padStart(String(rows.length).length)}/${rows.length}`;
      const rest =
        done < rows.length
          ? `; ${left()} left`
          : `; ${formatDuration((performance.now() - startedMs) / 1000)} in all`;
      say(`${count} ${resultOf(one)}${rest}`);
    },
  });
  process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  return played;
}

function secondsOf({ holdSeconds, recover }: Row): number {
  return holdSeconds + recover.withinSeconds / 2 + AROUND_SECONDS;
}

function resultOf({ row, measured, broken }: Played): string {
  const figures =
    measured === undefined
      ? ''
      : `, noticed ${measured.noticedSeconds?.toFixed(1) ?? '–'} s, recovered ${measured.recoveredSeconds?.toFixed(1) ?? '–'} s, failed ${measured.own.length}+${measured.ours.length} of ${measured.requests}`;
  const verdict = broken.length === 0 ? coloured('holds', 32) : coloured(`BROKEN: ${broken.join('; ')}`, 31);
  return `${row.part}: ${row.name}${figures}: ${verdict}`;
}

function listed({ part, name, happens, faultsOwn, notice, recover, throughout, short }: Row): string {
  const parts = [
    `${part}: ${name}${short === true ? ' (short form)' : ''}`,
    `happens: ${happens}`,
    `the fault's own failures: ${faultsOwn}; any other is ours`,
    ...(notice === undefined ? [] : [`noticed within ${notice.withinSeconds} s: ${notice.what}`]),
    ...(throughout === undefined ? [] : [`throughout: ${throughout.what}`]),
    `recovered within ${recover.withinSeconds} s${recover.because === undefined ? '' : `: ${recover.because}`}`,
  ];
  return parts.join('\n  ');
}

function jsonOf(played: readonly Played[]): string {
  const rows = played.map(({ row, measured, broken }) => {
    const { part, name, happens, faultsOwn, holdSeconds, notice, recover } = row;
    return {
      part,
      name,
      happens,
      faultsOwn,
      holdSeconds,
      noticeWithinSeconds: notice?.withinSeconds,
      recoverWithinSeconds: recover.withinSeconds,
      measured: measured && { ...measured, ...(broken.length === 0 && { trace: [], log: [] }) },
      broken,
    };
  });
  return `${JSON.stringify({ cores: availableParallelism(), node: process.version, rows }, null, 2)}\n`;
}

function coloured(text: string, code: number): string {
  return colour ? `\u001B[${code}m${text}\u001B[39m` : text;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
