import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { request } from 'undici';
import type { BackendExplanation, GroupExplanation } from '../../src/admin/explanation.ts';
import type { State } from '../../src/admin/state-shape.ts';
import { explain } from '../../src/commands/explain.ts';
import type { EnvoyHost } from '../../src/demo/envoy.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { configure, startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';
import { weightsByHand } from '../support/weight-by-hand.ts';

/** One backend of each kind; the last one joins later. */
const KINDS = ['light', 'half', 'saturated', 'silent', 'aside', 'newcomer'] as const;
type Kind = (typeof KINDS)[number];
const WEIGHTS: Readonly<Record<Kind, number>> = {
  light: 100,
  half: 50,
  saturated: 100,
  silent: 100,
  aside: 0,
  newcomer: 100,
};

for (const [index, policy] of (['Adaptive', 'Linear'] as const).entries()) {
  describe(`plimsoll explain, Policy ${policy}, against what two Envoys hold`, () => {
    test('every weight can be computed by hand from the JSON alone', async (t) => {
      const fleet = new Map(KINDS.map((kind, i) => [kind, new GaugeBackend(`127.0.${71 + index}.${i + 1}`)]));
      const all = [...fleet.values()];
      const cleanups = new Cleanups();
      t.after(() => cleanups.run());
      await startBackends(all, cleanups);
      for (const backend of all) backend.moving = true;
      set(fleet, 'light', { running: 12, kv: 0.2 });
      set(fleet, 'half', { running: 14, queued: 1, kv: 0.5 });
      set(fleet, 'saturated', { running: 40, queued: 20, kv: 0.9 });
      set(fleet, 'silent', { running: 20, kv: 0.4 });
      set(fleet, 'newcomer', { running: 2, kv: 0.1 });
      const options = { weights: Object.values(WEIGHTS), scheduler: `Policy: ${policy}`, sidecars: 2 };
      const voyage = await Voyage.start({ ...options, backends: all.slice(0, -1) }, cleanups);
      await waitFor('a sample of each', async () => {
        const { published } = await explained(voyage);
        return published.decision.backends.every(({ sample }) => sample !== null);
      });
      const silent = fleet.get('silent');
      assert.ok(silent !== undefined);
      silent.metrics = (_request, response) => response.writeHead(500).end();
      voyage.app.reload(configure({ ...options, backends: all }));

      const explanation = await waitFor(
        'the same in Envoys and explanation',
        async () => {
          const told = await explained(voyage);
          const kinds = byKind(told, fleet);
          const isSet = kinds.silent.missedEvaluations > 1 && kinds.newcomer.weight > 0;
          return isSet && (await allHold(voyage, told)) && told;
        },
        25_000,
      );

      const { decision } = explanation.published;
      const byHand = weightsByHand(decision);
      for (const { backend, weight } of decision.backends) {
        const expected = byHand.get(backend) ?? 0;
        const shift = Math.abs(weight - expected);
        assert.ok(shift <= 0.001 * expected + 1, `${backend}: ${weight} published, ${expected} by hand`);
      }
      const kinds = byKind(explanation, fleet);
      assert.deepEqual(
        KINDS.map((kind) => [kind, kinds[kind].sampleUse, kinds[kind].health]),
        [
          ['light', 'fresh', 'HEALTHY'],
          ['half', 'fresh', 'HEALTHY'],
          ['saturated', 'fresh', 'UNHEALTHY'],
          ['silent', 'worst', 'HEALTHY'],
          ['aside', 'aside', null],
          ['newcomer', 'fresh', 'HEALTHY'],
        ],
      );
      const { mark } = kinds.saturated;
      assert.deepEqual([mark?.metric, mark?.value, mark?.mark], ['TotalQueuedRequests', 20, 10]);
      assert.equal(kinds.silent.failure?.kind, 'status');
      assert.ok(kinds.newcomer.slowStart !== null && kinds.newcomer.slowStart.limitRatio < 1);
      const weights = (['light', 'half', 'silent', 'newcomer'] as const).map((kind) => kinds[kind].weight);
      assert.equal(new Set(weights).size, 4, `the weights ${weights.join(', ')} differ`);
      const { following, current } = explanation.xdsStreams;
      assert.ok(following === 2 && current <= 2, `${current} of ${following} streams`);

      await waitFor('both sidecars with what is published', async () => {
        const { body } = await request(`${voyage.admin}/state`);
        const { sidecars, groups } = (await body.json()) as State;
        const versions = sidecars.shown.map(({ groups: [held] }) => held?.version);
        return (
          versions.length === 2 && versions.every((version) => version === groups[0]?.published?.version)
        );
      });

      const text = await printed(voyage, {});
      for (const backend of all) assert.match(text, new RegExp(`^${backend.id}: `, 'm'));
      assert.match(
        await printed(voyage, { backend: silent.id }),
        /status 500.*the worst of the others counts/,
      );
    });
  });
}

function set(
  fleet: ReadonlyMap<Kind, GaugeBackend>,
  kind: Kind,
  gauges: Partial<GaugeBackend['gauges']>,
): void {
  const backend = fleet.get(kind);
  assert.ok(backend !== undefined);
  backend.gauges = { ...backend.gauges, ...gauges };
}

/** What the command prints. */
async function printed(voyage: Voyage, options: { backend?: string; json?: boolean }): Promise<string> {
  let printedText = '';
  const exit = await explain(
    {
      group: 'llama',
      backend: undefined,
      json: false,
      color: false,
      columns: undefined,
      admin: voyage.admin,
      ...options,
    },
    {
      out: (text) => {
        printedText += text;
      },
      err: (text) => assert.fail(text),
    },
  );
  assert.equal(exit, 0);
  return printedText;
}

async function explained(voyage: Voyage): Promise<GroupExplanation> {
  return JSON.parse(await printed(voyage, { json: true })) as GroupExplanation;
}

function byKind({ published }: GroupExplanation, fleet: ReadonlyMap<Kind, GaugeBackend>) {
  const entries = KINDS.map((kind): [Kind, BackendExplanation] => {
    const id = fleet.get(kind)?.id;
    const found = published.decision.backends.find(({ backend }) => backend === id);
    // before the reload there is no newcomer
    return [kind, found ?? { ...(published.decision.backends[0] as BackendExplanation), weight: 0 }];
  });
  return Object.fromEntries(entries) as Record<Kind, BackendExplanation>;
}

/** Whether every Envoy has the published weight and health of each backend, and no other. */
async function allHold(voyage: Voyage, { published }: GroupExplanation): Promise<boolean> {
  const expected = published.decision.backends
    .filter(({ health }) => health !== null)
    .map(({ backend, weight, health }) => `${backend} ${weight} ${health}`)
    .toSorted();
  const held = await Promise.all(voyage.envoys.map((envoy) => envoy.clusters()));
  return held.every((hosts) => linesOf(hosts).join('\n') === expected.join('\n'));
}

function linesOf(hosts: readonly EnvoyHost[]): readonly string[] {
  return hosts
    .filter(({ cluster }) => cluster === 'llama')
    .map(({ address, weight, health }) => `${address} ${weight} ${health}`)
    .toSorted();
}
