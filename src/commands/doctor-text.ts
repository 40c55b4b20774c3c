import type { Mend, Place, Severity } from '../doctor/finding.ts';
import type { MergedFinding } from '../doctor/merged.ts';
import { printable } from '../runtime/text.ts';

export interface DoctorReport {
  readonly envoy: { readonly url: string; readonly version: string | null; readonly node: string | null };
  readonly findings: readonly MergedFinding[];
}

const BOLD = '\u001b[1m';
const PLAIN = '\u001b[0m';
const MARKS: Readonly<Record<Severity, { readonly mark: string; readonly color: string }>> = {
  ok: { mark: '✓', color: '\u001b[32m' },
  warning: { mark: '!', color: '\u001b[33m' },
  error: { mark: '✗', color: '\u001b[31m' },
};

export function countsOf(findings: readonly MergedFinding[]): Readonly<Record<Severity, number>> {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  return { ok: count('ok'), warning: count('warning'), error: count('error') };
}

/** What an operator reads: a line for each finding, and beneath what is wrong the reason and the remedy. */
export function doctorText(
  { envoy, findings }: DoctorReport,
  { color }: { readonly color: boolean },
): string {
  const headings = new Set(findings.map(headingOf));
  const lines = [...headings].flatMap((heading, index) => [
    ...(index === 0 ? [] : ['']),
    color ? BOLD + (heading || envoyWords(envoy)) + PLAIN : heading || envoyWords(envoy),
    ...sectionLines(
      findings.filter((finding) => headingOf(finding) === heading),
      color,
    ),
  ]);
  return [...lines, '', summaryOf(findings)].map((line) => `${line}\n`).join('');
}

function headingOf({ places }: MergedFinding): string {
  const cluster = places[0]?.cluster;
  return cluster === undefined ? '' : `cluster ${cluster}`;
}

function envoyWords({ url, node }: DoctorReport['envoy']): string {
  return `Envoy at ${url}${node === null ? '' : `, node ${printable(node)}`}`;
}

/** A snippet that several findings need is shown once. */
function sectionLines(findings: readonly MergedFinding[], color: boolean): readonly string[] {
  const shown = new Set<string>();
  return findings.flatMap(({ severity, check, is, shouldBe, why, mend, places, morePlaces }) => {
    const { mark, color: tint } = MARKS[severity];
    const head = `${color ? tint + mark + PLAIN : mark} ${check}: ${is}${placeWords(places, morePlaces)}`;
    const isShown = mend !== undefined && shown.has(mend.yaml);
    if (mend !== undefined) shown.add(mend.yaml);
    return [
      `${head}${shouldBe === undefined ? '' : `; should be ${shouldBe}`}`,
      ...(why === undefined ? [] : [`    ${why}`]),
      ...(isShown ? ['    Mend it as above.'] : mendLines(mend)),
    ];
  });
}

const INTO: Readonly<Record<Mend['into'], string>> = {
  cluster: 'In the cluster',
  api_config_source: 'In the api_config_source, or in ads_config',
  google_grpc: 'In google_grpc',
  http_connection_manager: 'In the HTTP connection manager of the listener',
  route: 'In the route',
};

function mendLines(mend: Mend | undefined): readonly string[] {
  if (mend === undefined) return [];
  const yaml = mend.yaml.trimEnd().split('\n');
  return [`    ${INTO[mend.into]}:`, ...yaml.map((line) => `        ${line}`)];
}

const PLACES_SHOWN = 2;

/** Where within the cluster. */
function placeWords(places: readonly Place[], morePlaces: number): string {
  const words = places.flatMap(({ listener, route }) =>
    listener === undefined ? [] : [`listener ${listener}${route === undefined ? '' : `, route ${route}`}`],
  );
  if (words.length === 0) return '';
  const more = words.length + morePlaces - PLACES_SHOWN;
  return ` (${words.slice(0, PLACES_SHOWN).join('; ')}${more > 0 ? `; and ${more} more` : ''})`;
}

function summaryOf(findings: readonly MergedFinding[]): string {
  const { ok, warning, error } = countsOf(findings);
  const named = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;
  if (warning + error === 0) return `All ${ok} are right.`;
  return `${named(error, 'error')}, ${named(warning, 'warning')}, ${ok} right`;
}
