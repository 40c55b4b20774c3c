import { mergeChange } from '../admin/page/merge-change.ts';
import type { State, StateChange } from '../admin/state-shape.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { printable } from '../runtime/text.ts';
import type { AdminAccess } from './admin-access.ts';
import { adminHint, withHint } from './admin-hint.ts';
import { parseAnswer, reasonOf } from './ask-admin.ts';
import { eventsOf } from './event-stream.ts';
import { wrongInChange, wrongInState } from './state-check.ts';

/** Between two attempts to connect. */
const RETRY_MS = 1_000;

/** How things stand with the control plane; times by the clock of this process. */
export type FeedStatus =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly sinceMs: number; readonly reason: string };

/** What is known, and when it was told. */
export interface FeedView {
  readonly status: FeedStatus;
  /** undefined: nothing has been told yet. */
  readonly state: State | undefined;
  readonly toldAtMs: number;
  /** When another process was found in place of the one before; undefined: none was. */
  readonly restartedAtMs: number | undefined;
}

/** Follows `/events` for as long as it is wanted, whatever becomes of the server meanwhile. */
export class TopFeed {
  readonly #access: AdminAccess;
  readonly #clock: Clock;
  readonly #onView: () => void;
  #view: FeedView = {
    status: { kind: 'connecting' },
    state: undefined,
    toldAtMs: 0,
    restartedAtMs: undefined,
  };

  /** @param options.onView is called after each change of {@link view}. */
  constructor(options: {
    readonly access: AdminAccess;
    readonly clock: Clock;
    readonly onView: () => void;
  }) {
    this.#access = options.access;
    this.#clock = options.clock;
    this.#onView = options.onView;
  }

  get view(): FeedView {
    return this.#view;
  }

  /** Resolves when `signal` aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const reason = await this.#connection(signal);
      if (signal.aborted) return;
      this.#lost(reason);
      await sleep(this.#clock, RETRY_MS, signal);
    }
  }

  /** @returns why it ended. */
  async #connection(signal: AbortSignal): Promise<string> {
    try {
      for await (const { name, data } of eventsOf(this.#access, signal)) {
        const wrong = this.#take(name, parseAnswer(data));
        if (wrong !== undefined) return `it tells something else than a state (${wrong})`;
      }
      return 'the control plane ended the connection';
    } catch (error) {
      const reason = printable(reasonOf(error));
      // whoever has told something is where he is asked
      return this.#view.state === undefined ? withHint(reason, adminHint(error, this.#access.url)) : reason;
    }
  }

  /** @returns what is wrong with it. */
  #take(name: string, data: unknown): string | undefined {
    const before = this.#view.state;
    if (name === 'state') {
      const wrong = wrongInState(data);
      if (wrong === undefined) this.#told(data as State);
      return wrong;
    }
    if (name !== 'change' || before === undefined) return undefined;
    const wrong = wrongInChange(data);
    if (wrong === undefined) this.#told(mergeChange(before, data as StateChange));
    return wrong;
  }

  #told(state: State): void {
    const { state: before, restartedAtMs } = this.#view;
    const toldAtMs = this.#clock.now();
    const isAnother = before !== undefined && before.instance !== state.instance;
    this.#set({
      status: { kind: 'live' },
      state,
      toldAtMs,
      restartedAtMs: isAnother ? toldAtMs : restartedAtMs,
    });
  }

  #lost(reason: string): void {
    const { status } = this.#view;
    const sinceMs = status.kind === 'lost' ? status.sinceMs : this.#clock.now();
    this.#set({ ...this.#view, status: { kind: 'lost', sinceMs, reason } });
  }

  #set(view: FeedView): void {
    this.#view = view;
    this.#onView();
  }
}
