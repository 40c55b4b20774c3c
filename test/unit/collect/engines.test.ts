import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ENGINES, engineNamed } from '../../../src/collect/engines/catalogue.ts';
import { lacksScorer, namesOf } from '../../../src/collect/engines/engine.ts';
import { SampleReader, type SampleReading } from '../../../src/collect/sample.ts';
import { SamplePlan } from '../../../src/collect/sample-plan.ts';
import type { ScorerName } from '../../../src/core/model/balance-settings.ts';
import type { EngineName } from '../../../src/core/model/collect-settings.ts';
import { withEnginesTable } from '../../support/engines-table.ts';
import { Fleet } from '../../support/fleet.ts';
import { assertFile, assertGolden } from '../../support/golden.ts';

const SCORERS: readonly ScorerName[] = ['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'];
const FOLDER = new URL('../../golden/engines/', import.meta.url);
const PAGES = readdirSync(FOLDER).filter((name) => name.endsWith('.prom'));

function pageOf(name: string): Buffer {
  return readFileSync(new URL(name, FOLDER));
}

function readerOf(engine: EngineName | 'Auto'): SampleReader {
  return new SampleReader(new SamplePlan({ engine, metrics: { labels: {} } }, SCORERS));
}

/** Without the series. */
function plain(reading: SampleReading): object {
  if (reading.kind === 'failure') return reading;
  return { ...reading, families: undefined };
}

test('every page of an engine gives the sample that stands beside it, whoever names the engine', () => {
  const samples = PAGES.map((name) => {
    const auto = readerOf('Auto');
    const reading = auto.read(pageOf(name));
    assert.ok(reading.kind !== 'failure', `${name}: ${JSON.stringify(reading)}`);
    assert.ok(reading.engine !== undefined, name);
    assert.deepEqual(plain(auto.read(pageOf(name))), plain(reading), `${name}, once more`);
    assert.deepEqual(plain(readerOf(reading.engine).read(pageOf(name))), plain(reading), `${name}, by name`);
    return [name.replace('.prom', ''), plain(reading)] as const;
  });
  assertGolden('engines/samples.json', `${JSON.stringify(Object.fromEntries(samples), null, 2)}\n`);
});

test('the README has the table of engines that their data give', () => {
  const readme = new URL('../../../README.md', import.meta.url);
  assertFile(readme, withEnginesTable(readFileSync(readme, 'utf8')));
});

test('there is a page of every engine', () => {
  const found = new Set(
    PAGES.map((name) => readerOf('Auto').read(pageOf(name))).map((of) => 'engine' in of && of.engine),
  );
  for (const { name } of ENGINES) assert.ok(found.has(name), name);
});

describe('the data of every engine', () => {
  for (const engine of ENGINES) {
    test(engine.name, () => {
      assert.equal(engineNamed(engine.name), engine);
      assert.match(engine.path, /^\/[!-~]*$/);
      for (const name of namesOf(engine)) assert.match(name, /^[a-z][a-z0-9_:]{3,}$/);
      for (const scorer of ['TotalQueuedRequests', 'RunningRequests'] as const) {
        assert.equal(lacksScorer(engine, scorer), false);
      }
      assert.equal(engine.latency.sum.length, engine.latency.count.length);
    });
  }
});

test('those of which the sources are checked', () => {
  const documented = ENGINES.filter(({ source }) => source.kind === 'documentation').map(({ name }) => name);
  assert.deepEqual(documented, ['Nim', 'MindIe']);
});

describe('Auto', () => {
  const reader = readerOf('Auto');
  const page = (name: string) => pageOf(`${name}.prom`);

  test('remembers the engine and reads for it alone', () => {
    assert.deepEqual([reader.engine, reader.wantedNames], [undefined, undefined]);
    reader.read(page('vllm-0.32'));
    assert.equal(reader.engine, 'Vllm');
    assert.ok(reader.wantedNames?.includes('vllm:num_requests_waiting'));
    const both = Buffer.concat([page('sglang-0.4'), page('vllm-0.32')]);
    const reading = reader.read(both);
    assert.ok(reading.kind === 'sample');
    assert.deepEqual(
      [...reading.families.keys()].filter((name) => !name.startsWith('vllm:')),
      [],
    );
  });

  test('keeps it while any of its gauges is there, and on pages that are none', () => {
    assert.equal(reader.read(Buffer.from('vllm:num_requests_running 1\n')).kind, 'failure');
    assert.equal(reader.read(Buffer.from('<html>')).kind, 'failure');
    assert.equal(reader.engine, 'Vllm');
  });

  test('takes an engine for another no longer than until its page is whole', () => {
    const again = readerOf('Auto');
    const whole = page('mindie-3.0');
    again.read(whole.subarray(0, whole.indexOf('npu_cache')));
    assert.equal(again.engine, 'Nim');
    assert.equal(again.read(whole).kind, 'sample');
    assert.equal(again.engine, 'MindIe');
  });

  test('finds another on the same page as soon as they have vanished', () => {
    const reading = reader.read(page('sglang-0.4'));
    assert.ok(reading.kind === 'sample');
    assert.equal(reading.engine, 'SgLang');
    assert.equal(reading.sample.queued, 3);
  });

  test('forgets it on a page of none', () => {
    assert.deepEqual(reader.read(Buffer.from('up 1\n')), {
      kind: 'failure',
      failure: {
        kind: 'metric_absent',
        message:
          'metric absent: none of an engine that is known; some show theirs from the first request on, others are named by Metrics',
      },
    });
    assert.equal(reader.engine, undefined);
  });

  test('takes of two engines the one with more gauges, else the first in the table', () => {
    const engineOf = (text: string) => {
      const reading = readerOf('Auto').read(Buffer.from(text));
      return reading.kind === 'failure' ? reading.failure.message : reading.engine;
    };
    const tgi = 'tgi_queue_size 1\ntgi_batch_current_size 1\n';
    const llama = 'llamacpp:requests_deferred 1\nllamacpp:requests_processing 1\n';
    assert.equal(engineOf(llama + tgi), 'Tgi');
    assert.equal(engineOf(`${tgi}${llama}llamacpp:kv_cache_usage_ratio 0.5\n`), 'LlamaCpp');
  });

  test('leaves out what the engine does not have, and misses what it has', () => {
    const tgi = readerOf('Auto').read(page('tgi-3.3'));
    assert.ok(tgi.kind === 'sample');
    assert.equal(tgi.sample.kvUtilization, undefined);
    const vllm = readerOf('Auto').read(
      Buffer.from('vllm:num_requests_running 1\nvllm:num_requests_waiting 1\n'),
    );
    assert.equal(vllm.kind === 'failure' && vllm.failure.kind, 'metric_absent');
  });
});

describe('a named engine', () => {
  test('is read for no other, and stays', () => {
    const reader = readerOf('Tgi');
    assert.deepEqual(reader.read(pageOf('vllm-0.32.prom')), {
      kind: 'failure',
      failure: { kind: 'metric_absent', message: 'metric absent: tgi_queue_size' },
    });
    assert.equal(reader.engine, 'Tgi');
    assert.equal(reader.read(pageOf('tgi-3.3.prom')).kind, 'sample');
  });
});

describe('a KV gauge that may count to 100', () => {
  const kv = (reader: SampleReader, value: number, finished?: number): number | undefined => {
    const counter = finished === undefined ? '' : `request_success_total ${finished}\n`;
    const page = `num_requests_waiting 0\nnum_requests_running 0\nnpu_cache_usage_perc ${value}\n${counter}`;
    const reading = reader.read(Buffer.from(page));
    return reading.kind === 'sample' ? reading.sample.kvUtilization : undefined;
  };

  test('is one if its first value is above 1.1', () => {
    const reader = readerOf('MindIe');
    assert.deepEqual(
      [0, 40, 0.5, 1.05].map((value) => kv(reader, value)),
      [0, 0.4, 0.005, 0.0105],
    );
  });

  test('stays one however long its engine is nearly idle', () => {
    const reader = readerOf('MindIe');
    assert.equal(kv(reader, 40), 0.4);
    for (let page = 0; page < 10_000; page++) {
      const percent = 0.7 + (page % 31) / 100;
      assert.equal(kv(reader, percent, page), percent / 100, `page ${page}`);
    }
  });

  test('is one from the second different value above 1.1 on, if smaller ones came first', () => {
    const reader = readerOf('MindIe');
    assert.deepEqual(
      [0.5, 1.5, 1.5, 0.5, 1.25, 0.5].map((value) => kv(reader, value)),
      [0.5, 0.015, 0.015, 0.5, 0.0125, 0.005],
    );
  });

  test('is none for one absurd page, which may be read several times', () => {
    const reader = readerOf('MindIe');
    const read = (value: number) => kv(reader, value);
    assert.deepEqual([0.93, 7, 7, 0.94, 0, 0.95].map(read), [0.93, 0.07, 0.07, 0.94, 0, 0.95]);
  });

  test('is none any more when its engine has started again, and is one again when that shows it', () => {
    const reader = readerOf('MindIe');
    const read = ([value = 0, finished]: readonly number[]) => kv(reader, value, finished);
    assert.deepEqual(
      [
        [40, 700],
        [0.5, 700],
        [0.5, 3],
        [0.6, 4],
      ].map(read),
      [0.4, 0.005, 0.5, 0.6],
    );
    assert.deepEqual(
      [
        [0, 0],
        [40, 1],
        [0.6, 2],
      ].map(read),
      [0, 0.4, 0.006],
    );
  });

  test('stays one over a page that is incomplete', () => {
    const reader = readerOf('Auto');
    assert.equal(kv(reader, 40), 0.4);
    assert.equal(reader.read(Buffer.from('up 1\n')).kind, 'failure');
    assert.equal(kv(reader, 0.5), 0.005);
  });

  test('is full just above 1, and is not taken for one that counts to 100', () => {
    const reader = readerOf('MindIe');
    assert.deepEqual(
      [1.004, 0.95, 1.1, 0.97].map((value) => kv(reader, value)),
      [1, 0.95, 1, 0.97],
    );
  });

  test('is full just above 100', () => {
    assert.equal(kv(readerOf('MindIe'), 100.4), 1);
  });

  test('may be one that Metrics names, whatever the engine', () => {
    const metrics = {
      TotalQueuedRequests: { name: 'q', labels: {} },
      RunningRequests: { name: 'r', labels: {} },
      KVCacheUtilization: { name: 'kv', labels: {} },
      labels: {},
    };
    const reader = new SampleReader(new SamplePlan({ engine: 'Auto', metrics }, SCORERS));
    const read = (value: number) => {
      const reading = reader.read(Buffer.from(`q 0\nr 0\nkv ${value}\n`));
      return reading.kind === 'sample' && reading.sample.kvUtilization;
    };
    assert.deepEqual([40, 0.5].map(read), [0.4, 0.005]);
  });

  test('is one only where that is so, and not longer than the engine', () => {
    const reader = readerOf('Auto');
    const read = (value: number) => kv(reader, value);
    assert.deepEqual([40, 0.5].map(read), [0.4, 0.005]);
    reader.read(pageOf('vllm-0.9.prom'));
    assert.equal(read(0.5), 0.5);
    const vllm = (value: string) =>
      readerOf('Vllm').read(
        Buffer.from(pageOf('vllm-0.9.prom').toString().replaceAll(' 0.4375', ` ${value}`)),
      );
    assert.deepEqual(
      ['43.75', '0.4375'].map(vllm).map((of) => of.kind === 'sample' && of.sample.kvUtilization),
      [0.4375, 0.4375],
    );
  });
});

describe('long requests do not look like an engine that hangs', () => {
  /** Three requests of 20,000 tokens of prompt, 40 tokens/s each, in a cache of 400,000; nothing finishes. */
  const heldAt = (seconds: number): number => 3 * (20_000 + 40 * seconds);
  const sgLang = (seconds: number, held: string): string =>
    `sglang:num_queue_reqs 0\nsglang:num_running_reqs 3\nsglang:num_requests_total 500\n${held}` +
    `sglang:token_usage ${(heldAt(seconds) / 400_000).toFixed(2)}\n`;
  const pages: Readonly<Record<string, { at: (seconds: number) => string; hangs: boolean }>> = {
    'SGLang, whose KV gauge is rounded to hundredths': {
      at: (seconds) => sgLang(seconds, `sglang:num_used_tokens ${heldAt(seconds)}\n`),
      hangs: true,
    },
    'SGLang that does not tell the tokens it holds': { at: (seconds) => sgLang(seconds, ''), hangs: false },
    'vLLM with a hybrid model, whose blocks are of 7,808 tokens': {
      at: (seconds) =>
        `vllm:num_requests_waiting 0\nvllm:num_requests_running 3\nvllm:request_success_total 500\n` +
        `vllm:kv_cache_usage_perc ${(3 * Math.ceil(heldAt(seconds) / 3 / 7808)) / 60}\n` +
        `vllm:generation_tokens_total ${1e6 + heldAt(seconds)}\n`,
      hangs: true,
    },
    'Ray Serve, whose page is renewed every 10 s': {
      at: (seconds) =>
        `ray_vllm_num_requests_waiting 0\nray_vllm_num_requests_running 3\nray_vllm_request_success_total 500\n` +
        `ray_vllm_kv_cache_usage_perc ${heldAt(10.4 * Math.floor(seconds / 10.4)) / 400_000}\n`,
      hangs: false,
    },
  };
  for (const [what, { at, hangs }] of Object.entries(pages)) {
    test(what, () => {
      const reader = readerOf('Auto');
      const fleet = new Fleet(3);
      const other = (step: number) => ({ running: 3 + (step % 3), kvUtilization: 0.2, finished: 10 * step });
      let step = 0;
      const frozenWith = (page: string): boolean | undefined => {
        const reading = reader.read(Buffer.from(page));
        assert.ok(reading.kind === 'sample');
        step++;
        return fleet.step([reading.sample, other(step), other(step + 1)]).backends[0]?.frozen;
      };
      for (let seconds = 0; seconds < 90; seconds++) {
        assert.equal(frozenWith(at(seconds)), false, `works for ${seconds} s`);
      }
      const still = Array.from({ length: 30 }, () => frozenWith(at(90)));
      assert.equal(still.at(-1), hangs, 'hangs for 30 s');
    });
  }
});

describe('Metrics', () => {
  const read = (metrics: object, page: string, engine: EngineName | 'Auto' = 'Auto', weighted = SCORERS) => {
    const reading = new SampleReader(
      new SamplePlan({ engine, metrics: { labels: {}, ...metrics } }, weighted),
    ).read(Buffer.from(page));
    return reading.kind === 'sample' ? reading.sample : reading;
  };
  const own = {
    TotalQueuedRequests: { name: 'q', labels: {} },
    KVCacheUtilization: { name: 'cache', labels: { tier: 'gpu' } },
    RunningRequests: { name: 'q_running', labels: {} },
  };

  test('name those of an engine that nobody knows', () => {
    const page = 'q 3\nq_running 5\ncache{tier="cpu"} 0.9\ncache{tier="gpu"} 0.25\ndone 9\n';
    assert.deepEqual(read({ ...own, finished: { name: 'done', labels: {} } }, page), {
      queued: 3,
      running: 5,
      kvUtilization: 0.25,
      finished: 9,
      latency: undefined,
      coarse: true,
    });
    assert.deepEqual(read(own, 'q 3\nq_running 5\ncache{tier="cpu"} 0.9\n'), {
      kind: 'failure',
      failure: { kind: 'metric_absent', message: 'metric absent: cache{tier="gpu"}' },
    });
  });

  test('replace one of an engine that is known, and leave the rest', () => {
    const page = pageOf('vllm-0.8.prom').toString();
    const sample = read(
      { TotalQueuedRequests: { name: 'gateway_queue', labels: {} } },
      `${page}gateway_queue 12\n`,
    );
    assert.deepEqual(sample, {
      queued: 12,
      running: 7,
      kvUtilization: 0.4375,
      finished: 128,
      latency: { sumSeconds: 301.5, count: 128 },
    });
  });

  test('give an engine what it lacks', () => {
    const page = `${pageOf('tgi-3.3.prom').toString()}cache{tier="gpu"} 0.75\n`;
    const sample = read({ KVCacheUtilization: own.KVCacheUtilization }, page, 'Tgi');
    assert.ok('kvUtilization' in sample);
    assert.deepEqual([sample.kvUtilization, sample.coarse], [0.75, true]);
  });

  test('with Labels narrow every metric to one model or replica', () => {
    const page = pageOf('ray-serve-2.55.prom').toString();
    assert.deepEqual(read({ labels: { ReplicaId: 'r1aaaa' } }, page), {
      queued: 0,
      running: 8,
      kvUtilization: 0.5,
      finished: 210,
      latency: { sumSeconds: 525.5, count: 210 },
      coarse: true,
    });
    const asleep = read({ labels: { ReplicaId: 'r2bbbb' } }, page);
    assert.equal('kind' in asleep && asleep.kind, 'asleep');
    assert.deepEqual(read({ labels: { ReplicaId: 'r3' } }, page), {
      kind: 'failure',
      failure: {
        kind: 'metric_absent',
        message: 'metric absent: ray_vllm_num_requests_waiting{ReplicaId="r3"}',
      },
    });
  });
});

test('a vLLM engine that sleeps is asleep, whatever its gauges say; of several one awake is enough', () => {
  const asleep = pageOf('vllm-0.32-asleep.prom').toString();
  const noGauges = asleep.replaceAll(/^vllm:num_requests.*$/gm, '');
  for (const page of [asleep, noGauges]) {
    assert.equal(readerOf('Vllm').read(Buffer.from(page)).kind, 'asleep');
  }
  const one = pageOf('vllm-0.32.prom').toString();
  const half = one.replace(
    'engine="0",model_name="example/chat-8b",sleep_state="awake"} 1.0',
    'engine="0",model_name="example/chat-8b",sleep_state="awake"} 0.0',
  );
  assert.notEqual(half, one);
  assert.equal(readerOf('Vllm').read(Buffer.from(half)).kind, 'sample');
  assert.equal(
    readerOf('Vllm').read(Buffer.from(one.replaceAll('sleep_state="awake"} 1.0', 'sleep_state="awake"} NaN')))
      .kind,
    'sample',
  );
});
