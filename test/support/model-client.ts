import assert from 'node:assert/strict';
import type { TypeView } from '../../src/xds/subscription.ts';
import type { Sent } from './subscription-driver.ts';

/** How a client is told: in delta, in state of the world by what changed, or in state of the world by complete sets. */
export type Telling = 'delta' | 'partial' | 'sets';

type Versions = ReadonlyMap<string, string>;

interface Response {
  readonly nonce: string;
  readonly versions: Versions;
  readonly removed: readonly string[];
}

/**
 * What a client may rely on, told without a subscription: what it asks for, what it was told, what it has, and what it
 * is owed. Holds every response against that.
 */
export class ModelClient {
  readonly names = new Set<string>();
  wildcard = false;
  /** Asked for, or asked for again, and not yet answered. */
  readonly owed = new Set<string>();
  owedAll = false;
  /** Even if there is nothing to tell. */
  owedFirst = false;
  /** Neither acknowledged nor rejected, oldest first. */
  readonly open: Response[] = [];
  /** What responses have brought so far; '': that there is none. */
  readonly #told = new Map<string, string>();
  /** What is in force: acknowledged. */
  readonly #has = new Map<string, string>();
  /** The rejected versions, the last one last, of a name that has not been asked for and told of, or told removed, since. */
  readonly #rejected = new Map<string, readonly string[]>();
  #rejectedSet: Versions | undefined;
  #lastSetRejected = false;
  #givenUpTo = 0;
  readonly #telling: Telling;

  constructor(telling: Telling) {
    this.#telling = telling;
  }

  covers(name: string): boolean {
    return this.wildcard || this.names.has(name);
  }

  /** undefined: nothing is in force. */
  has(name: string): string | undefined {
    return this.#has.get(name);
  }

  /** Of an earlier stream. */
  remember(versions: Versions): void {
    for (const [name, version] of versions) {
      if (!this.covers(name)) continue;
      this.#has.set(name, version);
      this.#told.set(name, version);
    }
  }

  asksFor(name: string): void {
    if (!this.covers(name)) return;
    this.owed.add(name);
  }

  asksForAll(): void {
    this.owedAll = true;
  }

  giveUp(): void {
    this.#givenUpTo = Number(this.open.at(-1)?.nonce ?? this.#givenUpTo);
  }

  /** To be called when it asks for less. */
  forgetOthers(): void {
    this.owedAll &&= this.wildcard;
    for (const known of [this.owed, this.#told, this.#has, this.#rejected]) {
      // a set on its way brings also what is not asked for any more, and may be asked for again by then
      if (known === this.#told && this.#telling === 'sets' && this.open.length > 0) continue;
      for (const name of known.keys()) if (!this.covers(name)) known.delete(name);
    }
  }

  /** The subscription had its turn. */
  turn(sent: Sent | undefined, view: TypeView): void {
    const waiting = this.open.some(({ nonce }) => Number(nonce) > this.#givenUpTo);
    // what is asked for anew is sent whatever was rejected before
    for (const name of this.owedAll ? this.#rejected.keys() : this.owed) this.#rejected.delete(name);
    if (sent !== undefined) this.#take(sent, view, waiting);
    if (this.withheld(view)) return;
    this.#consider(view, waiting && sent === undefined);
  }

  /** The client has what exists without content: a set without it would delete it. */
  withheld(view: TypeView): boolean {
    return (
      this.#telling === 'sets' &&
      [...this.#told.keys()].some((name) => this.covers(name) && view.held.has(name))
    );
  }

  answer(index: number, rejects: boolean): Response | undefined {
    const answered = this.open.splice(0, index + 1);
    const last = answered.at(-1);
    for (const each of answered) this.#settle(each, rejects && each === last, each === last);
    this.forgetOthers();
    return last;
  }

  /** Once nothing is open any more. */
  checkAtRest(view: TypeView): void {
    if (this.withheld(view)) return;
    if (this.#telling === 'sets') {
      const due = this.#entitled(view);
      if (this.#rejectedSet !== undefined && equal(this.#rejectedSet, due)) return;
      assert.deepEqual(this.#has, due);
      return;
    }
    for (const name of new Set([...this.names, ...this.#has.keys(), ...view.resources.keys()])) {
      const version = view.resources.get(name)?.version;
      if (!this.covers(name) || view.held.has(name)) continue;
      if (version === undefined && this.#telling === 'partial') continue;
      if (version !== undefined && this.#rejected.get(name)?.includes(version) === true) continue;
      assert.equal(this.#has.get(name), version, `at rest: ${name}`);
    }
  }

  #take({ nonce, resources, removed }: Sent, view: TypeView, waiting: boolean): void {
    const versions = new Map(resources.map((item) => item.split('@') as [string, string]));
    for (const [name, version] of versions) {
      assert.ok(this.covers(name), `${name} is not asked for`);
      assert.equal(version, view.resources.get(name)?.version, `${name} is the newest`);
    }
    if (this.#telling === 'sets') this.#checkSet(versions, view, waiting);
    else this.#checkParts(versions, removed, view, waiting);
    if (this.#telling === 'sets') this.#told.clear();
    for (const [name, version] of versions) this.#told.set(name, version);
    for (const name of removed) {
      this.#told.set(name, '');
      this.#rejected.delete(name);
    }
    for (const name of [...versions.keys(), ...removed]) this.owed.delete(name);
    this.owedFirst = false;
    this.#lastSetRejected = false;
    this.open.push({ nonce, versions, removed });
  }

  #checkSet(versions: Versions, view: TypeView, waiting: boolean): void {
    const due = this.owedAll || [...this.owed].some((name) => view.resources.has(name));
    assert.deepEqual(versions, this.#entitled(view));
    assert.ok(!this.withheld(view), 'a set without what is held');
    if (due) return;
    assert.ok(!waiting, 'a second open response that nothing asked for');
    const told = [...this.#told].filter(([name]) => this.covers(name));
    assert.ok(this.#lastSetRejected || !equal(new Map(told), versions), 'the same set twice');
    assert.ok(this.#rejectedSet === undefined || !equal(this.#rejectedSet, versions), 'the rejected set');
  }

  #checkParts(versions: Versions, removed: readonly string[], view: TypeView, waiting: boolean): void {
    const due = (name: string): boolean => this.owedAll || this.owed.has(name);
    assert.ok(versions.size + removed.length > 0 || this.owedFirst, 'nothing, and no first answer');
    for (const [name, version] of versions) {
      if (due(name)) continue;
      assert.ok(!waiting, `${name} while a response is open, and nothing asked for it`);
      assert.notEqual(this.#told.get(name), version, `${name} twice`);
      assert.notEqual(this.#rejected.get(name)?.at(-1), version, `${name} as it was rejected`);
    }
    for (const name of removed) {
      assert.equal(this.#telling, 'delta');
      assert.ok(this.covers(name), `the removed ${name} is not asked for`);
      assert.ok(!view.resources.has(name) && !view.held.has(name), `${name} exists`);
      if (due(name)) continue;
      assert.ok(!waiting, `${name} removed while a response is open`);
      assert.ok(this.#told.get(name), `${name} removed, which it does not have`);
    }
  }

  /** What was asked for is answered at once, where that can be. */
  #consider(view: TypeView, unlooked: boolean): void {
    if (this.owedAll) {
      for (const name of view.held) if (this.covers(name)) this.owed.add(name);
      for (const name of this.#told.keys()) if (!view.resources.has(name)) this.#unseen(name, view);
    }
    this.owedAll = false;
    for (const name of this.owed) {
      assert.ok(!view.resources.has(name), `${name} was asked for and not answered`);
      if (view.held.has(name)) continue;
      assert.notEqual(this.#telling, 'delta', `${name} was asked for and not told removed`);
      if (this.#telling === 'sets' && unlooked) continue;
      this.#unseen(name, view);
      this.owed.delete(name);
    }
  }

  /** Responses by parts cannot tell that it is gone: when it returns the client waits for it, whatever it had. */
  #unseen(name: string, view: TypeView): void {
    if (this.#telling === 'partial' && !view.held.has(name)) this.#told.delete(name);
  }

  #settle({ versions, removed }: Response, rejects: boolean, judges: boolean): void {
    for (const name of removed) this.#has.delete(name);
    if (rejects) {
      for (const [name, version] of versions) {
        const before = this.#rejected.get(name) ?? [];
        // what it was told is gone is new when it is back
        const isGone = this.#telling === 'delta' && !this.#told.get(name);
        if (this.covers(name) && !isGone) this.#rejected.set(name, [...before, version]);
      }
      this.#rejectedSet = versions;
      this.#lastSetRejected = this.open.length === 0;
      return;
    }
    if (this.#telling === 'sets') this.#has.clear();
    for (const [name, version] of versions) {
      if (this.covers(name)) this.#has.set(name, version);
      if (!judges) continue;
      const rejected = this.#rejected.get(name) ?? [];
      if (rejected.at(-1) === version) this.#rejected.delete(name);
      else
        this.#rejected.set(
          name,
          rejected.filter((each) => each !== version),
        );
    }
    const rejected = this.#rejectedSet;
    if (!judges || rejected === undefined) return;
    const lacks = [...rejected.keys()].some((name) => !versions.has(name));
    if (lacks || equal(rejected, versions)) this.#rejectedSet = undefined;
  }

  #entitled(view: TypeView): Versions {
    const all = [...view.resources.values()].filter(({ name }) => this.covers(name));
    return new Map(all.map(({ name, version }) => [name, version]));
  }
}

function equal(one: Versions, other: Versions): boolean {
  return one.size === other.size && [...one].every(([name, version]) => other.get(name) === version);
}
