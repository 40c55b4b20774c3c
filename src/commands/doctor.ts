import { diagnose } from '../doctor/diagnose.ts';
import { type Finding, Judge } from '../doctor/finding.ts';
import { merged } from '../doctor/merged.ts';
import type { PlimsollView } from '../doctor/plimsoll-view.ts';
import { readView } from '../doctor/read-view.ts';
import type { EnvoyView } from '../doctor/view.ts';
import { EXIT } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { type AdminAccess, parseAdminUrl, readAccess } from './admin-access.ts';
import { countsOf, doctorText } from './doctor-text.ts';
import { readEnvoyPages } from './envoy-pages.ts';
import { plimsollView, type ReadState, readState, type ReplicaStates } from './plimsoll-answers.ts';

export interface DoctorOptions {
  /** Where Envoy has its admin address. */
  readonly envoyAdmin: string;
  /** Where Plimsoll has its own, each replica; empty: none is asked. */
  readonly admin: readonly string[];
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
  const before = await Promise.all(plimsoll.map((access) => readState(access)));
  const answered = await readEnvoyPages(envoy);
  const url = printable(options.envoyAdmin);
  if (answered.kind === 'failed') {
    io.err(`plimsoll doctor: ${url} ${answered.reason}\n`);
    return EXIT.failed;
  }
  const view = readView(answered.pages);
  const told = await Promise.all(plimsoll.map((access, index) => askAgain(access, before[index])));
  const findings = merged([
    ...told.flatMap((of, index) => (of.kind === 'failed' ? [unasked(options.admin[index] ?? '', of)] : [])),
    ...diagnose(view, await plimsollOf(told, view)),
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
  | { readonly kind: 'flags'; readonly envoy: AdminAccess; readonly plimsoll: readonly AdminAccess[] }
  | { readonly kind: 'bad'; readonly reason: string };

async function readFlags({ envoyAdmin, admin, ca, bearerTokenFile }: DoctorOptions): Promise<ReadFlags> {
  const url = parseAdminUrl(envoyAdmin);
  if (url === undefined) {
    const is = printable(envoyAdmin);
    return { kind: 'bad', reason: `--envoy-admin must be like http://127.0.0.1:9901, is ${is}` };
  }
  if (admin.length === 0 && (ca !== undefined || bearerTokenFile !== undefined))
    return { kind: 'bad', reason: '--ca and --bearer-token-file are for --admin URL' };
  const plimsoll: AdminAccess[] = [];
  for (const replica of admin) {
    const read = await readAccess({ admin: replica, ca, bearerTokenFile });
    if (read.kind === 'bad') return read;
    plimsoll.push(read.access);
  }
  return { kind: 'flags', envoy: { url, ca: undefined, token: undefined }, plimsoll };
}

type Told =
  | { readonly kind: 'states'; readonly states: ReplicaStates }
  | (ReadState & { readonly kind: 'failed' });

async function askAgain(access: AdminAccess, before: ReadState | undefined): Promise<Told> {
  if (before?.kind !== 'state') return before ?? { kind: 'failed', reason: 'was not asked' };
  const after = await readState(access);
  if (after.kind === 'failed') return after;
  return { kind: 'states', states: { access, before: before.state, after: after.state } };
}

/** @returns undefined: no replica has answered */
async function plimsollOf(
  told: readonly Told[],
  { node, clusters }: EnvoyView,
): Promise<PlimsollView | undefined> {
  const replicas = told.flatMap((of) => (of.kind === 'states' ? [of.states] : []));
  if (replicas.length === 0) return undefined;
  return plimsollView(replicas, { node, wanted: new Set(clusters.map(({ serviceName }) => serviceName)) });
}

function unasked(admin: string, { reason, hint }: ReadState & { readonly kind: 'failed' }): Finding {
  return new Judge('plimsoll', {}).error({
    is: `${printable(admin)} ${reason}`,
    why: `${hint === undefined ? '' : `${hint}. `}Versions, names of groups and EnvoyLbPolicy are not compared.`,
  });
}
