import assert from 'node:assert/strict';
import type { status } from '@grpc/grpc-js';
import { pino } from 'pino';
import type { XdsLimits } from '../../src/core/model/configuration.ts';
import { LogLimiter } from '../../src/runtime/log-limiter.ts';
import { ClientMeter } from '../../src/xds/client-meter.ts';
import { Feed } from '../../src/xds/feed.ts';
import { PREFIX_BYTES } from '../../src/xds/grpc-message.ts';
import type { Acknowledgement, Rejection, XdsObserver } from '../../src/xds/observer.ts';
import { Refusals } from '../../src/xds/refusals.ts';
import { RequestMeter } from '../../src/xds/request-meter.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { SERVED_TYPES } from '../../src/xds/served-types.ts';
import { XdsStream } from '../../src/xds/stream.ts';
import { DELTA } from '../../src/xds/variant.ts';
import { DISCOVERY, encode } from './discovery-proto.ts';
import { readDelta } from './discovery-response.ts';
import { FakeClock } from './fake-clock.ts';
import { type Contents, snapshot } from './snapshots.ts';
import { xdsSettings } from './xds-settings.ts';

/** A delta stream whose other side is in the test's hands. */
export class StreamBench {
  readonly written: { readonly type: string; readonly names: readonly string[]; readonly nonce: string }[] =
    [];
  readonly acknowledged: Acknowledgement[] = [];
  readonly rejected: Rejection[] = [];
  readonly unsubscribed: { readonly typeUrl: string; readonly names: readonly string[] }[] = [];
  /** Names that were told as removed. */
  readonly removed: string[] = [];
  readonly unknown: string[] = [];
  readonly unknownNames: string[] = [];
  readonly refused: string[] = [];
  readonly log: Record<string, unknown>[] = [];
  readonly clock = new FakeClock(1000);
  ended: readonly [status, string] | undefined;
  aborted = 0;
  sentBytes = 0;
  readonly stream;
  readonly #feed = new Feed();
  #done: (() => void) | undefined;

  constructor(types = SERVED_TYPES, limits: Partial<XdsLimits> = {}) {
    const log = pino(
      { base: null },
      { write: (line) => this.log.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const observer: XdsObserver = {
      identified: () => undefined,
      streamOpened: () => undefined,
      streamClosed: () => undefined,
      sent: (_typeUrl, bytes) => {
        this.sentBytes += bytes;
      },
      acknowledged: (each) => this.acknowledged.push(each),
      rejected: (each) => this.rejected.push(each),
      unsubscribed: (_stream, typeUrl, names) => this.unsubscribed.push({ typeUrl, names }),
      unknownType: () => undefined,
      unknownName: () => undefined,
      refused: (limit) => this.refused.push(limit),
    };
    const warnings = new LogLimiter({ log, clock: this.clock });
    const settings = xdsSettings(limits).limits;
    const nowMs = this.clock.now();
    this.stream = new XdsStream({
      peer: '10.0.9.1:40000',
      kind: 'ads',
      client: '10.0.0.1',
      identities: [],
      variant: DELTA,
      types,
      meter: new RequestMeter(settings, new ClientMeter(settings, nowMs), nowMs),
      context: {
        admits: () => true,
        join: () => ({ feed: this.#feed, leave: () => undefined }),
        clock: this.clock,
        limits: settings,
        warnings,
        refusals: new Refusals(observer, warnings),
        observer,
        unknownType: (typeUrl) => this.unknown.push(typeUrl),
        unknownName: (_typeUrl, name, node) => this.unknownNames.push(`${name} by ${node}`),
      },
      transport: {
        write: (message, done) => {
          const { typeUrl, nonce, resources, removed } = readDelta(message.subarray(PREFIX_BYTES));
          this.removed.push(...removed);
          const names = resources.map(({ name, version }) => `${name}@${version}`);
          const kind = Object.entries(TYPE_URLS).find(([, url]) => url === typeUrl)?.[0];
          this.written.push({ type: kind ?? '', names, nonce });
          assert.equal(this.#done, undefined, 'one write in flight');
          this.#done = done;
        },
        end: (code, details) => {
          this.ended = [code, details];
        },
        abort: () => {
          this.aborted++;
        },
      },
    });
  }

  publish(
    contents: Contents,
    held?: readonly string[],
    unpublished?: readonly (keyof typeof TYPE_URLS)[],
  ): void {
    this.#feed.accept(snapshot(contents, held, unpublished));
    this.stream.push();
  }

  request(type: keyof typeof TYPE_URLS, fields: object = {}): void {
    this.stream.receive(encode(DISCOVERY.DeltaDiscoveryRequest, { typeUrl: TYPE_URLS[type], ...fields }));
  }

  /** HTTP/2 takes the message in flight. */
  drain(): boolean {
    const done = this.#done;
    this.#done = undefined;
    done?.();
    return done !== undefined;
  }

  /** HTTP/2 takes everything. @returns `type name@version …` of what was written since `from`. */
  flush(from = 0): readonly string[] {
    while (this.drain());
    return this.written.slice(from).map(({ type, names }) => [type, ...names].join(' '));
  }

  acknowledgeAll(): void {
    this.flush();
    for (const { type, nonce } of this.written)
      this.request(type as keyof typeof TYPE_URLS, { responseNonce: nonce });
  }
}

export const EVERYTHING: Contents = {
  cluster: { g: '1' },
  endpoint: { g: '1' },
  listener: { l: '1' },
  route: { r: '1' },
};

/** A client of everything, served and settled. */
export function served(limits: Partial<XdsLimits> = {}): StreamBench {
  const bench = new StreamBench(SERVED_TYPES, limits);
  bench.publish(EVERYTHING);
  bench.request('cluster', { node: { id: 'n', cluster: 'c' } });
  bench.request('endpoint', { resourceNamesSubscribe: ['g'] });
  bench.request('listener');
  bench.request('route', { resourceNamesSubscribe: ['r'] });
  bench.acknowledgeAll();
  bench.written.length = 0;
  return bench;
}
