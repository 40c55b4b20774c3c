import { diagnose } from '../doctor/diagnose.ts';
import { type Finding, Judge } from '../doctor/finding.ts';
import { merged } from '../doctor/merged.ts';
import type { PlimsollView } from '../doctor/plimsoll-view.ts';
import { readView } from '../doctor/read-view.ts';
import { EXIT } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { type AdminAccess, parseAdminUrl, readAccess } from './admin-access.ts';
import { countsOf, doctorText } from './doctor-text.ts';
import { readEnvoyPages } from './envoy-pages.ts';
import { plimsollView, type ReadState, readState } from './plimsoll-answers.ts';

export interface DoctorOptions {
  /** Where Envoy has its admin address. */
  readonly envoyAdmin: string;
  /** Where Plimsoll has its own; undefined: it is not asked. */
  readonly admin?: string | undefined;
  readonly ca?: string | undefined;
  readonly bearerTokenFile?: string | undefined;
  readonly json: boolean;
  readonly color: boolean;
}

interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Says of a running Envoy what is right and what is wrong for Plimsoll.
 * @returns the exit code: `failed` when an error was found or Envoy cannot be asked, `usage` for flags that cannot be used.
 */
export async function doctor(options: DoctorOptions, io: Io): Promise<number> {
  const read = await readFlags(options);
  if (read.kind === 'bad') {
    io.err(`plimsoll doctor: ${read.reason}\n`);
    return EXIT.usage;
  }
  const { envoy, plimsoll } = read;
  const before = plimsoll && (await readState(plimsoll));
  const answered = await readEnvoyPages(envoy);
  const url = printable(options.envoyAdmin);
  if (answered.kind === 'failed') {
    io.err(`plimsoll doctor: ${url} ${answered.reason}\n`);
    return EXIT.failed;
  }
  const view = readView(answered.pages);
  const wanted = new Set(view.clusters.map(({ serviceName }) => serviceName));
  const told = plimsoll && before && (await ask(plimsoll, before, wanted));
  const findings = merged([
    ...(told?.kind === 'failed' ? [unasked(options.admin ?? '', told.reason)] : []),
    ...diagnose(view, told?.kind === 'view' ? told.view : undefined),
  ]);
  const { version, node } = view;
  const report = { envoy: { url, version: version ?? null, node: node ?? null }, findings };
  const counts = countsOf(findings);
  io.out(
    options.json
      ? `${JSON.stringify({ ...report, counts }, null, 2)}\n`
      : doctorText(report, { color: options.color }),
  );
  return counts.error > 0 ? EXIT.failed : EXIT.ok;
}

type ReadFlags =
  | { readonly kind: 'flags'; readonly envoy: AdminAccess; readonly plimsoll: AdminAccess | undefined }
  | { readonly kind: 'bad'; readonly reason: string };

async function readFlags({ envoyAdmin, admin, ca, bearerTokenFile }: DoctorOptions): Promise<ReadFlags> {
  const url = parseAdminUrl(envoyAdmin);
  if (url === undefined) {
    const is = printable(envoyAdmin);
    return { kind: 'bad', reason: `--envoy-admin must be like http://127.0.0.1:9901, is ${is}` };
  }
  const envoy = { url, ca: undefined, token: undefined };
  if (admin === undefined) {
    if (ca === undefined && bearerTokenFile === undefined)
      return { kind: 'flags', envoy, plimsoll: undefined };
    return { kind: 'bad', reason: '--ca and --bearer-token-file are for --admin URL' };
  }
  const read = await readAccess({ admin, ca, bearerTokenFile });
  return read.kind === 'bad' ? read : { kind: 'flags', envoy, plimsoll: read.access };
}

type Told =
  | { readonly kind: 'view'; readonly view: PlimsollView }
  | { readonly kind: 'failed'; readonly reason: string };

async function ask(access: AdminAccess, before: ReadState, wanted: ReadonlySet<string>): Promise<Told> {
  if (before.kind === 'failed') return before;
  const after = await readState(access);
  if (after.kind === 'failed') return after;
  const view = await plimsollView(access, { before: before.state, after: after.state, wanted });
  return { kind: 'view', view };
}

function unasked(admin: string, reason: string): Finding {
  return new Judge('plimsoll', {}).error({
    is: `${printable(admin)} ${reason}`,
    shouldBe: "Plimsoll's Admin.Listen",
    why: 'Versions, names of groups and EnvoyLbPolicy are not compared.',
  });
}
