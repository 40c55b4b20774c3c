import { leanPath } from '../../../src/collect/lean-path.ts';
import { PageClient } from '../../../src/collect/page-client.ts';
import { SamplePlan } from '../../../src/collect/sample-plan.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { PythonExporter } from '../../support/python-exporter/python-exporter.ts';

const ROUNDS = 5;
const PAGES_A_ROUND = 100;
const WARM_UP = 50;
const GOAL = 0.1;

/** A way of asking Python's exporter; `nothing`: for a name that it does not have, the least that an answer costs. */
type Way = 'full' | 'lean' | 'nothing';

/** By way: CPU seconds of the exporter's process for an answer, the median of the rounds, and the answer's size. */
export type ExporterFigures = Readonly<Record<Way, { readonly cpuSeconds: number; readonly bytes: number }>>;

/** Measures what a scrape costs the process that is scraped: Python's Prometheus client, wired as vLLM wires it. */
export async function measureExporter(): Promise<ExporterFigures> {
  const exporter = await PythonExporter.start();
  const client = new PageClient(exporter.backend, collectSettings());
  try {
    await exporter.show({ queued: 3, running: 40, kv: 0.5, finished: 1000 });
    const rounds: ExporterFigures[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const pages = round === 0 ? WARM_UP : PAGES_A_ROUND;
      const full = await measure(exporter, client, pages, undefined);
      const lean = await measure(exporter, client, pages, leanPath('/metrics', wantedNames()));
      const nothing = await measure(exporter, client, pages, leanPath('/metrics', ['none']));
      if (round > 0) rounds.push({ full, lean, nothing });
    }
    return {
      full: medianOf(rounds, 'full'),
      lean: medianOf(rounds, 'lean'),
      nothing: medianOf(rounds, 'nothing'),
    };
  } finally {
    await client.close();
    await exporter.stop();
  }
}

/** In words, with the goal. */
export function formatExporter({ full, lean, nothing }: ExporterFigures): readonly string[] {
  const ratio = lean.cpuSeconds / full.cpuSeconds;
  const production = (lean.cpuSeconds - nothing.cpuSeconds) / (full.cpuSeconds - nothing.cpuSeconds);
  const say = (what: string, { cpuSeconds, bytes }: ExporterFigures[Way]): string =>
    `  ${what}: ${(cpuSeconds * 1000).toFixed(2)} ms of its CPU, ${(bytes / 1000).toFixed(1)} kB`;
  return [
    'An exporter in Python (prometheus_client behind FastAPI, uvicorn with uvloop and httptools, as vLLM has it), for one scrape',
    say('full', full),
    say('lean', lean),
    say('an empty page, the least that any request costs there', nothing),
    `lean against full: ${ratio.toFixed(3)} ${ratio <= GOAL ? 'within' : 'MISSES'} ${GOAL}; of the page alone, without the request: ${production.toFixed(3)}`,
  ];
}

/** @param path undefined: the full page */
async function measure(
  exporter: PythonExporter,
  client: PageClient,
  pages: number,
  path: string | undefined,
): Promise<ExporterFigures[Way]> {
  const before = await exporter.cpuSeconds();
  let bytes = 0;
  for (let page = 0; page < pages; page++) {
    const result = await client.fetch(new AbortController().signal, path);
    if (result.kind === 'failure') throw new Error(result.failure.message);
    bytes = result.page.length;
  }
  return { cpuSeconds: ((await exporter.cpuSeconds()) - before) / pages, bytes };
}

function wantedNames(): readonly string[] {
  const plan = new SamplePlan(collectSettings({ engine: 'Vllm' }), []);
  return plan.configured?.names ?? [];
}

function medianOf(rounds: readonly ExporterFigures[], way: Way): ExporterFigures[Way] {
  const sorted = rounds
    .map((round) => round[way])
    .toSorted((one, other) => one.cpuSeconds - other.cpuSeconds);
  const middle = sorted[sorted.length >> 1];
  if (middle === undefined) throw new Error('no round was measured');
  return middle;
}
