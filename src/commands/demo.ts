import { LEAST_SECONDS } from '../demo/acts.ts';
import { type DemoOptions, demo as play } from '../demo/demo.ts';
import { EXIT } from '../runtime/errors.ts';

/** What may be asked for, ends included. */
const RANGES = {
  seconds: [LEAST_SECONDS, 3600],
  backends: [2, 16],
  seed: [0, 1_000_000],
} as const satisfies Partial<Record<keyof DemoOptions, readonly [number, number]>>;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Shows the whole of Plimsoll in one terminal. The screen goes to standard output, with `--json` to standard error.
 * SIGINT, SIGTERM and SIGHUP end it in order, a second one of them at once.
 * @returns the exit code: `ok` only if all that it must show was seen, `usage` for a number out of its range.
 */
export async function demo(
  options: DemoOptions,
  io: { readonly out: (text: string) => void; readonly err: (text: string) => void },
): Promise<number> {
  const wrong = outOfRange(options);
  if (wrong !== undefined) {
    io.err(`plimsoll demo: ${wrong}\n`);
    return EXIT.usage;
  }
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(EXIT.failed);
    stop.abort();
  };
  const stream = options.json ? process.stderr : process.stdout;
  const display = {
    write: options.json ? io.err : io.out,
    get columns() {
      // a terminal that does not know its width says 0
      return stream.isTTY ? stream.columns || 80 : undefined;
    },
    color: stream.isTTY && (process.env['NO_COLOR'] ?? '') === '',
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await play(options, { out: io.out, display, signal: stop.signal });
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

function outOfRange(options: DemoOptions): string | undefined {
  for (const name of ['seconds', 'backends', 'seed'] as const) {
    const value = options[name];
    const [least, most] = RANGES[name];
    if (Number.isInteger(value) && value >= least && value <= most) continue;
    return `--${name} must be an integer of ${least}..${most}, is ${value}`;
  }
  return undefined;
}
