import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DeltaSubscription } from '../../../src/xds/delta-subscription.ts';
import type { DeltaDiscoveryRequest, DiscoveryRequest } from '../../../src/xds/request.ts';
import { SotwSetSubscription } from '../../../src/xds/sotw-set-subscription.ts';
import { SotwSubscription } from '../../../src/xds/sotw-subscription.ts';
import type { Subscription, TypeView } from '../../../src/xds/subscription.ts';
import { ModelClient, type Telling } from '../../support/model-client.ts';
import {
  NO_REQUEST,
  REJECTION,
  type Sent,
  SubscriptionDriver,
  viewOf,
} from '../../support/subscription-driver.ts';

const NAMES = ['a', 'b', 'c'];
const EVERY = '*';

/** What happens to a subscription, in an order that a client, a publisher or a stream could bring about. */
type Happening =
  | { readonly kind: 'publish'; readonly state: Readonly<Record<string, State>> }
  /** From here on the client asks for these and no others. */
  | { readonly kind: 'ask'; readonly names: readonly string[] }
  /** What it asks for of these, it asks for again. */
  | { readonly kind: 'ask again'; readonly names: readonly string[] }
  | { readonly kind: 'answer'; readonly rejects: boolean; readonly newest: boolean }
  | { readonly kind: 'repeat'; readonly nonce: string }
  | { readonly kind: 'renew'; readonly names: readonly string[] }
  | { readonly kind: 'give up' };

/** A version, a name without content, or no such name. */
type State = '1' | '2' | '3' | 'held' | 'gone';

/** After a step the stream may be busy writing: it asks what is to be sent only after a later one. */
type Step = Happening & { readonly busy: boolean };

interface Play {
  readonly first: { readonly names: readonly string[]; readonly initial: Readonly<Record<string, string>> };
  /** A first request without names asks for everything. */
  readonly emptyMeansAll: boolean;
  /** What the client says to have is not sent again. */
  readonly trusts: boolean;
  readonly steps: readonly Step[];
}

const state = fc.constantFrom<State>('1', '1', '2', '2', '3', 'held', 'gone');
const asked = fc.oneof(
  { arbitrary: fc.subarray(NAMES), weight: 3 },
  { arbitrary: fc.subarray(NAMES).map((names) => [EVERY, ...names]), weight: 1 },
);
const busy = fc.nat(3).map((n) => n === 0);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('publish' as const),
      state: fc.record({ a: state, b: state, c: state }),
      busy,
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ kind: fc.constant('ask' as const), names: asked, busy }), weight: 3 },
  { arbitrary: fc.record({ kind: fc.constant('ask again' as const), names: asked, busy }), weight: 1 },
  {
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      rejects: fc.nat(2).map((n) => n === 0),
      newest: fc.boolean(),
      busy,
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('repeat' as const),
      nonce: fc.constantFrom('', '0', '99999', 'x'),
      busy,
    }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('renew' as const),
      names: fc.subarray(NAMES, { minLength: 1 }),
      busy,
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constant('give up' as const), busy }), weight: 1 },
);

const play: fc.Arbitrary<Play> = fc.record({
  first: fc.record({
    names: asked,
    initial: fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom('1', '2'), { maxKeys: 2 }),
  }),
  emptyMeansAll: fc.boolean(),
  trusts: fc.boolean(),
  steps: fc.array(step, { maxLength: 30, size: 'max' }),
});

const RUNS = { seed: 24, numRuns: 4000, includeErrorInReport: true };

/** What a client, told in one way, says in its requests. */
interface Speech<R> {
  first(): Partial<R>;
  ask(names: readonly string[]): Partial<R>;
  again(names: readonly string[]): Partial<R>;
  /** A request that asks for nothing new. */
  idle(): Partial<R>;
}

/** Plays all steps, holding each response against the model, then acknowledges until all is quiet. */
function run<R extends { readonly nonce: string; readonly error: unknown }>(
  { steps }: Play,
  client: ModelClient,
  driver: SubscriptionDriver<R>,
  speech: Speech<R>,
): void {
  let view: TypeView = viewOf({});
  const turn = (): Sent | undefined => {
    const sent = driver.next(view);
    client.turn(sent, view);
    return sent;
  };
  const answer = (index: number, rejects: boolean): void => {
    const response = client.answer(index, rejects);
    if (response === undefined) return;
    const error = rejects ? REJECTION : undefined;
    const settled = driver.receive({ ...speech.idle(), nonce: response.nonce, error });
    assert.ok(settled !== undefined, 'it settles the response');
    const own = [...response.versions].map(([name, version]) => `${name}@${version}`);
    assert.deepEqual(
      own.filter((item) => !settled.includes(item)),
      [],
    );
    const spared = settled.filter((item) => !own.includes(item));
    assert.ok(!rejects || spared.length === 0, 'a refusal is of what was sent');
    for (const item of spared) assert.equal(item, `${item.charAt(0)}@${client.has(item.charAt(0))}`);
  };
  const happen = (each: Step): void => {
    switch (each.kind) {
      case 'publish':
        view = viewIn(each.state);
        break;
      case 'ask':
        driver.receive(speech.ask(each.names));
        break;
      case 'ask again':
        driver.receive(speech.again(each.names));
        break;
      case 'answer':
        answer(each.newest ? client.open.length - 1 : 0, each.rejects);
        break;
      case 'repeat':
        assert.equal(driver.receive({ ...speech.idle(), nonce: each.nonce }), undefined);
        break;
      case 'renew':
        driver.subscription.renew(each.names);
        for (const name of each.names) client.asksFor(name);
        break;
      case 'give up':
        driver.subscription.giveUp();
        client.giveUp();
    }
  };
  driver.receive(speech.first());
  for (const each of steps) {
    happen(each);
    if (!each.busy) turn();
  }
  turn();
  for (let i = 0; i < 100 && client.open.length > 0; i++) {
    answer(0, false);
    turn();
  }
  assert.equal(client.open.length, 0, 'it comes to rest');
  assert.equal(turn(), undefined, 'nothing is sent without a cause');
  client.checkAtRest(view);
}

function viewIn(states: Readonly<Record<string, State>>): TypeView {
  const entries = Object.entries(states);
  const versions = entries.filter(([, each]) => each !== 'held' && each !== 'gone');
  return viewOf(
    Object.fromEntries(versions),
    entries.filter(([, each]) => each === 'held').map(([name]) => name),
  );
}

/** Changes what the model asks for. */
function ask(client: ModelClient, names: readonly string[]): void {
  client.wildcard = names.includes(EVERY);
  client.names.clear();
  for (const name of names) if (name !== EVERY) client.names.add(name);
}

class DeltaSpeech implements Speech<DeltaDiscoveryRequest> {
  readonly #client: ModelClient;
  readonly #play: Play;

  constructor(client: ModelClient, each: Play) {
    this.#client = client;
    this.#play = each;
  }

  first(): Partial<DeltaDiscoveryRequest> {
    const { first, emptyMeansAll, trusts } = this.#play;
    const client = this.#client;
    const initialVersions = new Map(Object.entries(first.initial));
    ask(client, first.names.length === 0 && emptyMeansAll ? [EVERY] : first.names);
    client.owedFirst = true;
    for (const name of [...client.names, ...(trusts ? [] : initialVersions.keys())]) client.asksFor(name);
    client.remember(initialVersions);
    if (trusts) for (const name of initialVersions.keys()) client.owed.delete(name);
    return { subscribe: first.names, initialVersions };
  }

  ask(names: readonly string[]): Partial<DeltaDiscoveryRequest> {
    const client = this.#client;
    const before = [...client.names, ...(client.wildcard ? [EVERY] : [])];
    const subscribe = names.filter((name) => !before.includes(name));
    const unsubscribe = before.filter((name) => !names.includes(name));
    ask(
      client,
      before.filter((name) => names.includes(name)),
    );
    client.forgetOthers();
    // beside the wildcard a name that is left is told of: the client cannot know whether it exists
    if (client.wildcard) for (const name of unsubscribe) client.asksFor(name);
    ask(client, names);
    for (const name of subscribe) if (name !== EVERY) client.asksFor(name);
    if (subscribe.includes(EVERY)) client.asksForAll();
    return { subscribe, unsubscribe };
  }

  again(names: readonly string[]): Partial<DeltaDiscoveryRequest> {
    const client = this.#client;
    const subscribe = names.filter((name) => (name === EVERY ? client.wildcard : client.names.has(name)));
    for (const name of subscribe) if (name !== EVERY) client.asksFor(name);
    if (subscribe.includes(EVERY)) client.asksForAll();
    return { subscribe };
  }

  idle(): Partial<DeltaDiscoveryRequest> {
    return {};
  }
}

class SotwSpeech implements Speech<DiscoveryRequest> {
  readonly #client: ModelClient;
  readonly #play: Play;
  /** An empty list asks for everything until there was another. */
  #legacy = false;

  constructor(client: ModelClient, each: Play) {
    this.#client = client;
    this.#play = each;
  }

  first(): Partial<DiscoveryRequest> {
    const { first, emptyMeansAll } = this.#play;
    if (first.names.length > 0 || !emptyMeansAll) return this.ask(first.names);
    this.ask([EVERY]);
    this.#legacy = true;
    return this.idle();
  }

  ask(names: readonly string[]): Partial<DiscoveryRequest> {
    const client = this.#client;
    const before = { names: [...client.names], wildcard: client.wildcard };
    this.#legacy = false;
    ask(client, names);
    client.forgetOthers();
    for (const name of client.names) if (!before.names.includes(name)) client.asksFor(name);
    if (client.wildcard && !before.wildcard) client.asksForAll();
    return this.idle();
  }

  /** It can only leave the list and come back. */
  again(): Partial<DiscoveryRequest> {
    return this.idle();
  }

  idle(): Partial<DiscoveryRequest> {
    if (this.#legacy) return { names: [] };
    const { names, wildcard } = this.#client;
    const list = [...(wildcard ? [EVERY] : []), ...names];
    return { names: list.length === 0 ? [''] : list };
  }
}

function sotw(telling: Telling, subscription: () => Subscription<DiscoveryRequest>) {
  return (each: Play): void => {
    const client = new ModelClient(telling);
    const driver = new SubscriptionDriver<DiscoveryRequest>(subscription(), { ...NO_REQUEST, names: [] });
    const legacy = telling === 'sets' && each.emptyMeansAll;
    run(each, client, driver, new SotwSpeech(client, { ...each, emptyMeansAll: legacy }));
  };
}

function delta(each: Play): void {
  const client = new ModelClient('delta');
  const none = { ...NO_REQUEST, subscribe: [], unsubscribe: [], initialVersions: new Map<string, string>() };
  const subscription = new DeltaSubscription(each.emptyMeansAll, each.trusts);
  const driver = new SubscriptionDriver<DeltaDiscoveryRequest>(subscription, none);
  run(each, client, driver, new DeltaSpeech(client, each));
}

const WHAT = 'whatever the order of things, the client is told what it is owed, once, and ends with it';

test(`delta: ${WHAT}`, () => {
  fc.assert(fc.property(play, delta), RUNS);
});

test(`sotw: ${WHAT}`, () => {
  fc.assert(
    fc.property(
      play,
      sotw('partial', () => new SotwSubscription()),
    ),
    RUNS,
  );
});

test(`sotw, complete sets: ${WHAT}`, () => {
  fc.assert(
    fc.property(
      play,
      sotw('sets', () => new SotwSetSubscription()),
    ),
    RUNS,
  );
});
