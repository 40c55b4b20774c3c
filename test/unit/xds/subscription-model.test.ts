import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DeltaSubscription } from '../../../src/xds/delta-subscription.ts';
import type { DeltaDiscoveryRequest, DiscoveryRequest } from '../../../src/xds/request.ts';
import { SotwSetSubscription } from '../../../src/xds/sotw-set-subscription.ts';
import { SotwSubscription } from '../../../src/xds/sotw-subscription.ts';
import { NO_REQUEST, type Sent, SubscriptionDriver, viewOf } from '../../support/subscription-driver.ts';

const NAMES = ['a', 'b', 'c'];

/** What happens to a subscription, in an order that a client or a publisher could bring about. */
type Step =
  | { readonly kind: 'publish'; readonly versions: Readonly<Record<string, string>> }
  | { readonly kind: 'subscribe'; readonly names: readonly string[] }
  | { readonly kind: 'acknowledge' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('publish' as const),
    versions: fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom('1', '2', '3')),
  }),
  fc.record({ kind: fc.constant('subscribe' as const), names: fc.subarray(NAMES) }),
  fc.record({ kind: fc.constant('acknowledge' as const) }),
);

/** A client in its simplest form: what it asked for and what it has. */
class Client {
  asked: readonly string[] = [];
  readonly has = new Map<string, string>();
  readonly open: Sent[] = [];
  /** Whether a request for new names may still be answered beyond the one open response. */
  answerDue = false;

  take(sent: Sent, complete: boolean): void {
    assert.ok(this.open.length === 0 || this.answerDue, 'a second open response that nothing asked for');
    this.answerDue = false;
    this.open.push(sent);
    if (complete) this.has.clear();
    for (const item of sent.resources) {
      const [name = '', version = ''] = item.split('@');
      this.has.set(name, version);
    }
    for (const name of sent.removed) this.has.delete(name);
  }
}

/** Plays `steps`, then acknowledges until all is quiet; the client must then have what is published of its names. */
function play<R>(
  steps: readonly Step[],
  driver: SubscriptionDriver<R>,
  request: (client: Client, before: readonly string[], nonce: string) => Partial<R>,
  complete: boolean,
  removes: boolean,
): void {
  const client = new Client();
  let view = viewOf({});
  const send = (): void => {
    const sent = driver.next(view);
    if (sent !== undefined) client.take(sent, complete);
  };
  const acknowledge = (): void => {
    const nonce = client.open.shift()?.nonce ?? '';
    driver.receive(request(client, client.asked, nonce));
    send();
  };
  const apply: { readonly [K in Step['kind']]: (step: Extract<Step, { kind: K }>) => void } = {
    publish: ({ versions }) => {
      view = viewOf(versions);
      send();
    },
    subscribe: ({ names }) => {
      const before = client.asked;
      client.asked = names;
      for (const name of client.has.keys()) if (!names.includes(name)) client.has.delete(name);
      client.answerDue = names.some((name) => !before.includes(name));
      driver.receive(request(client, before, ''));
      send();
      client.answerDue = false;
    },
    acknowledge,
  };
  for (const each of steps) (apply[each.kind] as (step: Step) => void)(each);
  for (let i = 0; i < 100 && client.open.length > 0; i++) acknowledge();
  assert.equal(client.open.length, 0, 'it comes to rest');
  assert.equal(driver.next(view), undefined, 'nothing is sent without a cause');
  for (const name of client.asked) {
    const version = view.resources.get(name)?.version;
    if (version !== undefined || removes) assert.equal(client.has.get(name), version, name);
  }
}

const steps = fc.array(step, { maxLength: 40 });
const RUNS = { seed: 24, numRuns: 1000 };

/** A client that starts with a list, so that an empty one does not stand for everything. */
const sotwRequest = (
  client: Client,
  _before: readonly string[],
  nonce: string,
): Partial<DiscoveryRequest> => ({
  names: client.asked.length === 0 ? [''] : client.asked,
  nonce,
});

test('delta: whatever the order of things, the client ends with what is published', () => {
  fc.assert(
    fc.property(steps, (each) => {
      const none = {
        ...NO_REQUEST,
        subscribe: [],
        unsubscribe: [],
        initialVersions: new Map<string, string>(),
      };
      const driver = new SubscriptionDriver<DeltaDiscoveryRequest>(new DeltaSubscription(false, true), none);
      const request = (client: Client, before: readonly string[], nonce: string) => ({
        subscribe: client.asked.filter((name) => !before.includes(name)),
        unsubscribe: before.filter((name) => !client.asked.includes(name)),
        nonce,
      });
      play(each, driver, request, false, true);
    }),
    RUNS,
  );
});

test('sotw: whatever the order of things, the client ends with what is published', () => {
  fc.assert(
    fc.property(steps, (each) => {
      const driver = new SubscriptionDriver<DiscoveryRequest>(new SotwSubscription(), {
        ...NO_REQUEST,
        names: [],
      });
      play(each, driver, sotwRequest, false, false);
    }),
    RUNS,
  );
});

test('sotw, complete sets: whatever the order of things, the client ends with what is published', () => {
  fc.assert(
    fc.property(steps, (each) => {
      const driver = new SubscriptionDriver<DiscoveryRequest>(new SotwSetSubscription(), {
        ...NO_REQUEST,
        names: [],
      });
      play(each, driver, sotwRequest, true, true);
    }),
    RUNS,
  );
});
