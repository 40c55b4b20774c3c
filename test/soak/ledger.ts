import type { TimedFailure } from './steady-requests.ts';

/** Which failed requests are a fault's own doing, said before it begins. */
export interface Claim {
  readonly fault: string;
  /** The same in words. */
  readonly own: string;
  /** @param undoneMs infinity: it goes on */
  readonly isOwn: (failure: TimedFailure, undoneMs: number) => boolean;
  /** So long after it was undone a failure may still be its own. */
  readonly afterMs: number;
}

/** What came of a fault. */
export interface Account {
  readonly times: number;
  /** Failed requests that it had claimed. */
  readonly own: number;
  /** Failed requests that nobody had claimed, while it went on. */
  readonly ours: number;
}

/** A failed request of ours, and what went on meanwhile. */
export interface OurFailure extends TimedFailure {
  readonly during: readonly string[];
}

/** So many of ours are kept. */
const KEPT = 50;

/** Books every failed request to the fault that had claimed it, or to us. */
export class Ledger {
  readonly #going = new Set<{ readonly claim: Claim; readonly fromMs: number; undoneMs: number }>();
  readonly #accounts = new Map<string, Account>();
  readonly #examples: OurFailure[] = [];
  #own = 0;
  #ours = 0;

  /** Failed requests that a fault had claimed. */
  get own(): number {
    return this.#own;
  }

  /** Those that none had claimed. */
  get ours(): number {
    return this.#ours;
  }

  /** The first of ours. */
  get examples(): readonly OurFailure[] {
    return this.#examples;
  }

  get accounts(): ReadonlyMap<string, Account> {
    return this.#accounts;
  }

  /** A fault begins. @returns what is called when it has been undone. */
  begin(claim: Claim, nowMs: number): (undoneMs: number) => void {
    for (const going of this.#going)
      if (going.undoneMs + going.claim.afterMs < nowMs) this.#going.delete(going);
    const going = { claim, fromMs: nowMs, undoneMs: Infinity };
    this.#going.add(going);
    this.#add(claim.fault, { times: 1 });
    return (undoneMs) => {
      going.undoneMs = undoneMs;
    };
  }

  book(failure: TimedFailure): void {
    const during = [...this.#going].filter(
      ({ claim, fromMs, undoneMs }) =>
        fromMs <= failure.endedMs && failure.sentMs <= undoneMs + claim.afterMs,
    );
    const owner = during.find(({ claim, undoneMs }) => claim.isOwn(failure, undoneMs));
    if (owner !== undefined) {
      this.#own++;
      this.#add(owner.claim.fault, { own: 1 });
      return;
    }
    this.#ours++;
    for (const { claim } of during) this.#add(claim.fault, { ours: 1 });
    if (this.#examples.length < KEPT)
      this.#examples.push({ ...failure, during: during.map(({ claim }) => claim.fault) });
  }

  #add(fault: string, more: Partial<Account>): void {
    const { times, own, ours } = this.#accounts.get(fault) ?? { times: 0, own: 0, ours: 0 };
    this.#accounts.set(fault, {
      times: times + (more.times ?? 0),
      own: own + (more.own ?? 0),
      ours: ours + (more.ours ?? 0),
    });
  }
}
