import { ENGINES } from '../collect/engines/catalogue.ts';
import type { EngineName } from '../core/model/collect-settings.ts';
import { EXIT, PlimsollError } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { probeHint } from './probe-hint.ts';
import { type Probed, type ProbedPage, probePage } from './probe-page.ts';
import { isOfUse, probeJson, probeText } from './probe-report.ts';
import { type ProbeFlags, type ProbeTarget, probeTarget, settingsOf, withPage } from './probe-target.ts';

export interface ProbeOptions extends ProbeFlags {
  readonly json: boolean;
}

interface ProbeIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

type FailedPage = Probed & { readonly kind: 'failure' };

/**
 * Fetches one metrics page as the collector would, and prints what it found and the configuration for it.
 * @returns the exit code: `failed` when there is no page, or no sample on it for the scorers that its engine has;
 * `usage` for arguments and files that cannot be used
 */
export async function probe(flags: ProbeOptions, io: ProbeIo): Promise<number> {
  try {
    return await run(flags, io);
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error;
    io.err(`plimsoll probe: ${error.message}\n`);
    return error.code === 'usage' ? EXIT.usage : EXIT.failed;
  }
}

async function run(flags: ProbeOptions, io: ProbeIo): Promise<number> {
  if (flags.engine !== 'Auto' && !ENGINES.some(({ name }) => name === flags.engine)) {
    const known = ['Auto', ...ENGINES.map(({ name }) => name)].join(', ');
    throw new PlimsollError('usage', `--engine must be one of ${known}, is ${printable(flags.engine, 60)}`);
  }
  const target = await probeTarget(flags);
  const { page, failures } = await probeAll(target, flags.engine);
  if (page === undefined) {
    const told = { url: flags.url, failures: failures.map(toldFailure) };
    if (flags.json) io.out(`${JSON.stringify(told, undefined, 2)}\n`);
    else io.err(failureText(flags.url, told.failures));
    return EXIT.failed;
  }
  const block = withPage(target.block, page.path, page.engine?.name ?? 'Auto');
  const told = { page, block, intervalSeconds: flags.interval };
  const report = isOfUse(told) ? told : { ...told, otherEngine: await otherEngine(target, told.page) };
  io.out(flags.json ? `${JSON.stringify(probeJson(report), undefined, 2)}\n` : probeText(report));
  return isOfUse(report) ? EXIT.ok : EXIT.failed;
}

/** The engine that a page is of by itself; undefined: that as which it was read, or none that is known. */
async function otherEngine(
  { backend, block }: ProbeTarget,
  { path, engine }: ProbedPage,
): Promise<EngineName | undefined> {
  const found = await probePage(backend, settingsOf(withPage(block, path, 'Auto'), backend));
  const name = found.kind === 'page' ? found.engine?.name : undefined;
  return name === engine?.name ? undefined : name;
}

/** Tries one path after the other, until one has metrics, or the server itself cannot be asked. */
async function probeAll(
  { backend, paths, block }: ProbeTarget,
  engine: string,
): Promise<{ readonly page: ProbedPage | undefined; readonly failures: readonly FailedPage[] }> {
  const failures: FailedPage[] = [];
  for (const path of paths) {
    const probed = await probePage(backend, settingsOf(withPage(block, path, engine), backend));
    if (probed.kind === 'page') return { page: probed, failures };
    failures.push(probed);
    const { kind } = probed.failure;
    if (kind !== 'status' && kind !== 'not_metrics' && kind !== 'metric_absent') break;
  }
  return { page: undefined, failures };
}

interface ToldFailure {
  readonly path: string;
  readonly kind: string;
  readonly message: string;
  readonly hint: string | undefined;
}

function toldFailure({ path, failure }: FailedPage): ToldFailure {
  const { kind, message } = failure;
  return { path, kind, message, hint: probeHint(failure, path) };
}

function failureText(url: string, failures: readonly ToldFailure[]): string {
  const hints = new Set(failures.flatMap(({ hint }) => hint ?? []));
  return [
    `plimsoll probe: no metrics at ${printable(url)}\n`,
    ...failures.map(({ path, message }) => `  ${printable(path)}: ${message}\n`),
    ...[...hints].map((hint) => `${hint}\n`),
  ].join('');
}
