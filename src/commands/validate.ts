import { effectiveFile, writeYaml } from '../config/effective.ts';
import { loadFields } from '../config/load.ts';
import { formatMistakes, formatPath, MISTAKES_SHOWN, type Mistake, REDACTED } from '../config/mistake.ts';
import type { ConfigurationFile } from '../config/schema.ts';
import { EXIT } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { leanWarnings } from './lean-warnings.ts';
import { faultsOfFiles, type FileFault } from './named-files.ts';

/** Where the texts of a command go; each ends with a newline. */
export interface ValidateOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** What a `Config` block does here that it does not do in the component that this follows. */
export const DIFFERENCES: readonly string[] = [
  'A backend whose collection fails goes near the lowest weight instead of out of the group; OnCollectFailure: Remove takes it out.',
  'Weights follow the load by feedback (Policy: Adaptive) instead of the plain normalised score; Policy: Linear is nearest to that.',
  'Sidecars weigh in their own requests in flight (EnvoyLbPolicy: LeastRequest); EnvoyLbPolicy: RoundRobin does not.',
  'The thresholds of saturation are public: Saturation.',
  'The engine of each backend is found by its metrics page, and its own names are read (Engine: Auto); Engine names one, Metrics other names.',
  'In overload sidecars refuse a share of the requests beforehand (Saturation.Admission: Proportional); None leaves it to the thresholds.',
];

interface ValidateOptions {
  readonly config: string;
  readonly json: boolean;
  /** Whether to look at the files that it names. Default true. */
  readonly files?: boolean;
}

/** Said after mistakes of files. */
const ELSEWHERE =
  'plimsoll validate: --no-files looks at no such file, where only serve on its machine can read them\n';

/**
 * Checks a configuration file, and unless `files` is false the files that it names: one without which `serve` would not
 * start is a mistake, any other that is no good is warned of. A good one is printed with every default filled in, as
 * YAML that can be used in its place (but for values of headers, which may be secret), or with `json` as one object; of a
 * bad one every mistake is, up to the first 500.
 * @returns the exit code: 0, or 64 when there is a mistake.
 */
export async function validate(options: ValidateOptions, io: ValidateOutput): Promise<number> {
  const checked = await loadFields(options.config);
  if (checked.kind === 'invalid') {
    printMistakes(options, checked.mistakes, io);
    return EXIT.usage;
  }
  const faults = options.files === false ? [] : await faultsOfFiles(checked.fields);
  const mistakes = faults.flatMap(({ path, reason, meanwhile }): Mistake[] => {
    if (meanwhile !== undefined) return [];
    const { line, column } = checked.at(path);
    return [{ file: options.config, line, column, path: formatPath(path), message: reason }];
  });
  if (mistakes.length > 0) {
    printMistakes(options, mistakes, io);
    if (!options.json) io.err(ELSEWHERE);
    return EXIT.usage;
  }
  printEffective(options, checked.fields, [...leanWarnings(checked.fields), ...faults.map(inWords)], io);
  return EXIT.ok;
}

function inWords({ path, reason, meanwhile = '' }: FileFault): string {
  return `${formatPath(path)}: ${reason}; ${meanwhile}`;
}

function printMistakes(
  { config, json }: { readonly config: string; readonly json: boolean },
  mistakes: readonly Mistake[],
  io: ValidateOutput,
): void {
  if (json) {
    const shown = mistakes.slice(0, MISTAKES_SHOWN);
    const more = mistakes.length - shown.length;
    io.out(`${JSON.stringify({ file: config, valid: false, mistakes: shown, more })}\n`);
    return;
  }
  io.err(`${formatMistakes(mistakes).join('\n')}\n`);
}

function printEffective(
  { config, json }: { readonly config: string; readonly json: boolean },
  fields: ConfigurationFile,
  warnings: readonly string[],
  io: ValidateOutput,
): void {
  const configuration = effectiveFile(fields);
  if (json) {
    const result = { file: config, valid: true, configuration, warnings, differences: DIFFERENCES };
    io.out(`${JSON.stringify(result)}\n`);
    return;
  }
  const yaml = writeYaml(configuration);
  io.out(
    [
      `# ${printable(config)} with every default filled in\n`,
      yaml.includes(REDACTED) ? '# Values of headers are not shown: put them in, or {File: PATH}.\n' : '',
      yaml,
      warnings.length === 0 ? '' : '\n# Warnings\n',
      ...warnings.map((warning) => `# - ${warning}\n`),
      '\n# Differences from the component this follows\n',
      ...DIFFERENCES.map((difference) => `# - ${difference}\n`),
    ].join(''),
  );
}
