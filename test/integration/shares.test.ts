import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { request } from 'undici';
import { evaluate, initialState } from '../../src/core/evaluate.ts';
import type { Backend } from '../../src/core/model/backend.ts';
import type { CollectOutcome } from '../../src/core/model/collection.ts';
import type { ServerGroup } from '../../src/core/model/server-group.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { Publisher } from '../../src/publish/publisher.ts';
import { SnapshotStore } from '../../src/publish/snapshot-store.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { encoder, listenerEncoders } from '../../src/xds/encoder.ts';
import { XdsServer } from '../../src/xds/server.ts';
import { XDS_SERVICES } from '../../src/xds/services.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { bootstrapOf, configure, startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

describe('with EnvoyLbPolicy RoundRobin', () => {
  test('many requests: measured shares are the published ones', async (t) => {
    const backends = [1, 2, 3, 4].map((last) => new GaugeBackend(`127.0.13.${last}`));
    const cleanups = new Cleanups();
    t.after(() => cleanups.run());
    await startBackends(backends, cleanups);
    const loads = [4, 12, 18, 30];
    backends.forEach((backend, i) => {
      backend.moving = true;
      backend.gauges = { queued: 0, running: loads[i] ?? 0, kv: 0.1 * i, finished: 0 };
    });
    const voyage = await Voyage.start({ backends, group: 'EnvoyLbPolicy: RoundRobin' }, cleanups);
    const before = await voyage.until('unequal weights', (held) => new Set(weightsOf(held)).size === 4);
    const count = 2000;
    const counts = await voyage.tally(count);
    const after = await voyage.held();
    for (const { id } of backends) {
      // learned capacity moves the weights a little while the requests run
      const published = [before, after].map((held) => held.get(id)?.share ?? 0);
      const measured = (counts.get(id) ?? 0) / count;
      const low = Math.min(...published) - 0.01;
      const high = Math.max(...published) + 0.01;
      assert.ok(
        measured >= low && measured <= high,
        `${id}: measured ${measured}, published ${published.join(', ')}`,
      );
    }
    const shares = backends.map(({ id }) => after.get(id)?.share ?? 0);
    assert.deepEqual(
      shares,
      shares.toSorted((a, b) => b - a),
      'the more loaded, the smaller the share',
    );
    assert.ok((shares[0] ?? 0) > 2 * (shares[3] ?? 0), `shares ${shares.join(', ')} follow the load`);
  });

  test('one request for each push: no backend starves, each gets its share', async (t) => {
    const backends = Array.from({ length: 8 }, (_, i) => new GaugeBackend(`127.0.14.${i + 1}`));
    const cleanups = new Cleanups();
    t.after(() => cleanups.run());
    await startBackends(backends, cleanups);
    const configuration = configure({ backends, group: 'EnvoyLbPolicy: RoundRobin' });
    const group = configuration.serverGroups[0] as ServerGroup;
    const store = new SnapshotStore();
    const publisher = new Publisher(encoder, [{ store, listener: listenerEncoders.aggregated }]);
    const taken = new Set<string>();
    const xds = new XdsServer({
      services: XDS_SERVICES,
      sourceOf: () => store,
      settings: configuration.xds,
      clock: systemClock,
      log: silentLogger,
      observer: {
        identified: () => undefined,
        streamOpened: () => undefined,
        streamClosed: () => undefined,
        sent: () => undefined,
        rejected: ({ message }) => assert.fail(message),
        unsubscribed: () => undefined,
        unknownType: () => undefined,
        refused: (limit) => assert.fail(limit),
        unknownName: () => undefined,
        acknowledged: ({ resources }) => {
          for (const version of resources.values()) taken.add(version);
        },
      },
    });
    publisher.configure([group], configuration.listeners, 0);
    const listening = xds.listen({ host: '127.0.0.1', port: 0 });
    const bound = await cleanups.own(listening, () => xds.stop());
    const course = new Course(group);
    publisher.publish(course.next().assignment);
    const starting = Envoy.start({ bootstrap: bootstrapOf(configuration, bound.port) });
    const envoy = await cleanups.own(starting, (started) => started.stop());
    const origin = await waitFor('the listener', () => envoy.listener('inference'));

    const expected = new Map(backends.map(({ id }) => [id, { mean: 0, variance: 0 }]));
    const pushes = 400;
    const versions = new Set<string>();
    for (let push = 0; push < pushes; push++) {
      const decision = course.next();
      const { version } = publisher.publish(decision.assignment);
      versions.add(version);
      await waitFor(`push ${push} to be taken`, () => taken.has(version));
      for (const { backend, share } of decision.backends) {
        const of = expected.get(backend.id);
        if (of === undefined) continue;
        of.mean += share;
        of.variance += share * (1 - share);
      }
      const { statusCode, body } = await request(`http://${origin}/`);
      await body.dump();
      assert.equal(statusCode, 200);
    }
    assert.ok(versions.size > 0.95 * pushes, `${versions.size} of ${pushes} evaluations made a push`);
    for (const { id, hits } of backends) {
      const { mean, variance } = expected.get(id) ?? { mean: 0, variance: 0 };
      const margin = 4 * Math.sqrt(variance);
      assert.ok(Math.abs(hits - mean) < margin, `${id}: ${hits} requests, published ${mean} ± ${margin}`);
    }
  });
});

/** Evaluates a group of nearly equal backends again and again, as if a second passed each time. */
class Course {
  readonly #group: ServerGroup;
  #state = initialState();
  #run = 0;

  constructor(group: ServerGroup) {
    this.#group = group;
  }

  next() {
    const atMs = this.#run * 1000;
    const outcomes = new Map(
      this.#group.servers.map((server, i) => [server.id, this.#outcome(server, i, atMs)]),
    );
    const { state, decision } = evaluate(this.#state, {
      group: this.#group,
      nowMs: atMs,
      run: { startedAtMs: atMs - 20, endedAtMs: atMs, outcomes },
      delaySeconds: 0.1,
    });
    this.#state = state;
    this.#run++;
    return decision;
  }

  /** Around 30 requests each, up to 16 more from run to run. */
  #outcome(_server: Backend, i: number, atMs: number): CollectOutcome {
    const running = 30 + ((this.#run * 7 + i * 5) % 17);
    const sample = { queued: 0, running, kvUtilization: 0.4, finished: this.#run * 4, latency: undefined };
    return { kind: 'sample', sample, engine: 'Vllm', atMs, durationMs: 5, bytes: 1000 };
  }
}

function weightsOf(held: ReadonlyMap<string, { readonly weight: number }>): readonly number[] {
  return [...held.values()].map(({ weight }) => weight);
}
