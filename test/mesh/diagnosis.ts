import { doctor } from '../../src/commands/doctor.ts';
import type { MergedFinding } from '../../src/doctor/merged.ts';

/** What `plimsoll doctor` finds. @param envoy `HOST:PORT` of its admin address; @param admin Plimsoll's */
export async function diagnosis(envoy: string, admin?: string): Promise<readonly MergedFinding[]> {
  let out = '';
  await doctor(
    { envoyAdmin: `http://${envoy}`, admin: admin === undefined ? [] : [admin], json: true, color: false },
    {
      out: (text) => (out += text),
      err: (text) => {
        throw new Error(text);
      },
    },
  );
  return (JSON.parse(out) as { readonly findings: readonly MergedFinding[] }).findings;
}

/** What is not right, as `severity check: is`. */
export function faultsIn(findings: readonly MergedFinding[]): readonly string[] {
  return findings
    .filter(({ severity }) => severity !== 'ok')
    .map(({ severity, check, is }) => `${severity} ${check}: ${is}`);
}
