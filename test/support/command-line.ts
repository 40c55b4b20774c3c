import { readFileSync } from 'node:fs';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { EXIT, messageOf, PlimsollError } from '../../src/runtime/errors.ts';

type Values<Options extends ParseArgsConfig['options']> = ReturnType<
  typeof parseArgs<{ readonly options: Options; readonly allowPositionals: boolean }>
>;

/** Prints the comment at the head of a tool's file and ends the process, if `--help` is asked for. */
export function helpIfAsked(url: string): void {
  if (!process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return;
  process.stdout.write(`${headOf(readFileSync(new URL(url), 'utf8'))}\n`);
  process.exit(EXIT.ok);
}

/**
 * The command line of a tool, whose options are described in the comment at the head of its file: `--help` prints that
 * and ends the process.
 * @param url `import.meta.url` of the tool
 * @throws {@link PlimsollError} `usage` for an option that there is not, or a word where the tool takes none
 */
export function readCommandLine<Options extends NonNullable<ParseArgsConfig['options']>>(
  url: string,
  options: Options,
  { words = false }: { readonly words?: boolean } = {},
): Values<Options> {
  helpIfAsked(url);
  try {
    return parseArgs({ options, allowPositionals: words });
  } catch (error) {
    const [what] = messageOf(error).split(/\.\s/);
    throw new PlimsollError('usage', `${what}; --help shows what there is`, { cause: error });
  }
}

/** As {@link readCommandLine}, for a tool without a `main` that would tell of the error: it ends the process with that of a wrong usage. */
export function optionsOf<Options extends NonNullable<ParseArgsConfig['options']>>(
  url: string,
  options: Options,
): Values<Options>['values'] {
  return orEnd(() => readCommandLine(url, options).values);
}

/** The number of an option; one that is none, or not within the bounds, ends the process with that of a wrong usage. */
export function numberOption(
  option: string,
  text: string,
  { least = 1, most = 100_000, whole = true }: Bounds = {},
): number {
  const value = Number(text);
  const fits = (whole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text) && value >= least && value <= most;
  if (fits) return value;
  return orEnd(() => {
    const kind = whole ? 'a whole number' : 'a number';
    throw new PlimsollError('usage', `${option} ${text}: must be ${kind} from ${least} to ${most}`);
  });
}

interface Bounds {
  readonly least?: number;
  readonly most?: number;
  /** Default true. */
  readonly whole?: boolean;
}

/** The numbers of an option that takes several, with commas between them; see {@link numberOption}. */
export function numberList(option: string, text: string, bounds?: Bounds): readonly number[] {
  return text.split(',').map((part) => numberOption(option, part, bounds));
}

/** The words of an option that takes several, with commas between them; one that is not among `known` ends the process with that of a wrong usage. */
export function wordList<Word extends string>(
  option: string,
  text: string,
  known: readonly Word[],
): readonly Word[] {
  return text.split(',').map((word) => {
    const found = known.find((one) => one === word);
    if (found !== undefined) return found;
    return orEnd(() => {
      throw new PlimsollError('usage', `${option} ${word}: there are ${known.join(', ')}`);
    });
  });
}

function orEnd<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(EXIT.usage);
  }
}

/** The text of the first comment of a file. */
function headOf(source: string): string {
  const comment = /^\/\*\*\n(.*?)\n? \*\//s.exec(source)?.[1] ?? '';
  return comment.replaceAll(/^ \* ?/gm, '');
}
