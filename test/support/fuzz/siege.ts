import assert from 'node:assert/strict';
import type { ListenAddress } from '../../../src/core/model/configuration.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { snapshot } from '../snapshots.ts';
import { waitFor } from '../wait-for.ts';
import type { XdsClient, XdsTestStream } from '../xds-client.ts';
import { XdsHarness } from '../xds-harness.ts';
import { xdsSettings } from '../xds-settings.ts';
import { type Attack, carryOut } from './attacks.ts';
import { clientAt, type Door, type Papers } from './door.ts';

/** A client that does all as it should, and must not notice the others. */
interface Bystander {
  readonly client: XdsClient;
  readonly stream: XdsTestStream;
  version: string;
}

/** A server under attack, and clients that it must serve as if there were none. */
export class Siege {
  readonly harness: XdsHarness;
  readonly #papers: Papers | undefined;
  readonly #bystanders: Bystander[] = [];
  #address: ListenAddress = { host: '', port: 0 };
  #version = 0;

  /**
   * @param papers who attacks has a certificate and may see little; undefined: plain text.
   * @param keepalive for attacks that only a ping finds out.
   */
  constructor(papers?: Papers, keepalive = xdsSettings().keepalive) {
    this.#papers = papers;
    this.harness = new XdsHarness({
      // The bystanders acknowledge far more often than a fleet does.
      settings: { ...xdsSettings({ requestsPerSecond: 10_000, newStreamsPerSecond: 100_000 }), keepalive },
      tls: papers?.settings,
      rules: papers?.rules,
    });
  }

  async start(): Promise<void> {
    this.#address = await this.harness.listen();
    this.#publish();
    for (const variant of ['sotw', 'delta'] as const) this.#bystanders.push(this.#bystander(variant));
    await this.#everybodyServed();
  }

  /**
   * Carries out all attacks at the same time, with pushes between.
   * @throws AssertionError when a bystander is ended or gets no push, or anything of an attacker is left.
   */
  async endure(attacks: readonly Attack[]): Promise<void> {
    const begun = attacks.map((attack) => carryOut(attack, this.#door(this.#papers?.hostile)));
    this.#publish();
    const closers = await Promise.all(begun);
    this.#publish();
    await this.#everybodyServed();
    for (const close of closers) close();
    await waitFor(
      'the end of the streams of attackers',
      () => this.harness.streams === this.#bystanders.length,
    );
  }

  /** @throws AssertionError when anything is left after everybody has gone. */
  async stop(): Promise<void> {
    for (const { client, stream } of this.#bystanders) {
      stream.cancel();
      client.close();
    }
    await waitFor('the last stream', () => this.harness.streams === 0);
    assert.equal(this.harness.store.followers, 0);
    await this.harness.server.stop();
  }

  #door(tls: Door['tls']): Door {
    return { address: this.#address, tls };
  }

  #publish(): void {
    const version = String(++this.#version);
    const each = { a: version, b: String(this.#version % 3), [`n${this.#version % 5}`]: '1' };
    this.harness.store.set(snapshot({ cluster: each, endpoint: each, listener: each, route: each }));
  }

  #bystander(variant: 'sotw' | 'delta'): Bystander {
    const client = clientAt(this.#door(this.#papers?.honest));
    const stream = client.open('ads', variant);
    const typeUrl = TYPE_URLS.endpoint;
    const bystander = { client, stream, version: '' };
    stream.onResponse = (response) => {
      bystander.version = response.resources[0]?.value.toString().split('@')[1] ?? '';
      stream.responses.length = 0;
      stream.acknowledge(response, ['a']);
    };
    stream.send({
      typeUrl,
      ...(variant === 'sotw' ? { resourceNames: ['a'] } : { resourceNamesSubscribe: ['a'] }),
    });
    return bystander;
  }

  async #everybodyServed(): Promise<void> {
    const version = String(this.#version);
    await waitFor(
      'the push',
      () => {
        for (const { stream } of this.#bystanders) assert.equal(stream.status, undefined);
        return this.#bystanders.every((each) => each.version === version);
      },
      5_000,
    );
  }
}
