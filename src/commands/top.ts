import type { State } from '../admin/state-shape.ts';
import { systemClock } from '../runtime/clock.ts';
import { EXIT } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { type AdminAccess, type AdminFlags, readAccess } from './admin-access.ts';
import { withHint } from './admin-hint.ts';
import { askAdmin, errorIn } from './ask-admin.ts';
import { wrongInState } from './state-check.ts';
import { Terminal, type TerminalInput, type TerminalOutput } from './terminal.ts';
import { TopFeed } from './top-feed.ts';
import { FIRST_MODEL, pressed } from './top-model.ts';
import { topJson, topText } from './top-once.ts';
import { tableLines, topScreen } from './top-screen.ts';

export interface TopOptions extends AdminFlags {
  /** Print what is known and end. */
  readonly once: boolean;
  /** Implies `once`. */
  readonly json: boolean;
  readonly color: boolean;
}

export interface TopIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** undefined: there is no terminal, and it is printed once. */
  readonly terminal:
    | { readonly output: TerminalOutput; readonly input: TerminalInput | undefined }
    | undefined;
  /** Ends it from outside. */
  readonly signal: AbortSignal;
}

/** Ages are shown as they grow. */
const REPAINT_MS = 1_000;

/**
 * Shows what a running control plane does, live or once.
 * @returns the exit code: `usage` for flags that cannot be used, `failed` when there is nobody to ask once.
 */
export async function top(options: TopOptions, io: TopIo): Promise<number> {
  const read = await readAccess(options);
  if (read.kind === 'bad') {
    io.err(`plimsoll top: ${read.reason}\n`);
    return EXIT.usage;
  }
  const { terminal } = io;
  if (options.once || options.json || terminal === undefined) return once(read.access, options, io);
  await live(read.access, options, io, terminal);
  return EXIT.ok;
}

async function once(access: AdminAccess, options: TopOptions, io: TopIo): Promise<number> {
  const answer = await askAdmin(access, '/state');
  const admin = printable(options.admin);
  const failed = (reason: string): number => {
    io.err(`plimsoll top: ${admin} ${reason}\n`);
    return EXIT.failed;
  };
  if (answer.kind === 'unreachable') {
    return failed(`cannot be asked: ${withHint(answer.reason, answer.hint)}`);
  }
  if (answer.status !== 200) return failed(`answered ${answer.status}: ${errorIn(answer)}`);
  const wrong = wrongInState(answer.body);
  if (wrong !== undefined) {
    return failed(`answered something else than a state (${wrong}): is it a Plimsoll like this?`);
  }
  const state = answer.body as State;
  io.out(options.json ? topJson(state) : topText(state));
  return EXIT.ok;
}

async function live(
  access: AdminAccess,
  options: TopOptions,
  io: TopIo,
  { output, input }: NonNullable<TopIo['terminal']>,
): Promise<void> {
  const quit = new AbortController();
  const signal = AbortSignal.any([io.signal, quit.signal]);
  let model = FIRST_MODEL;
  const admin = printable(options.admin);
  const feed = new TopFeed({
    access,
    clock: systemClock,
    onView: () => {
      paint();
    },
  });
  const screen = new Terminal({
    output,
    input,
    onKey: (key) => {
      const groups = feed.view.state?.groups.length ?? 0;
      const next = pressed(model, key, { groups, lines: tableLines(screen) });
      if (next === 'quit') quit.abort();
      else {
        model = next;
        paint();
      }
    },
    onResize: () => {
      paint();
    },
  });
  const paint = (): void => {
    if (signal.aborted) return;
    const scene = { view: feed.view, model, nowMs: systemClock.now(), admin };
    screen.paint(topScreen(scene, screen, options.color));
  };
  const timer = setInterval(paint, REPAINT_MS);
  try {
    paint();
    await feed.follow(signal);
  } finally {
    clearInterval(timer);
    screen.leave();
  }
}
