/**
 * A simulated inference engine in the manner of vLLM: continuous batching over a fixed number of slots, a FIFO queue,
 * chunked prefill under a token budget, and a paged KV cache with recompute preemption (the last admitted first).
 *
 * Pure: time is an argument. A step is planned when it starts and takes effect when it ends; what arrives or leaves
 * in between is looked at between two steps, as vLLM's engine core does. So the gauges have the age of the last
 * step's end, and keep their values for as long as there is no step.
 */

export interface EngineSettings {
  /** Sequences that run at once (`max_num_seqs`). */
  readonly slots: number;
  /** Tokens that the KV cache holds. */
  readonly kvTokens: number;
  /** Tokens that one step may compute, decoding and prefill together (`max_num_batched_tokens`). */
  readonly stepTokens: number;
  /** Fixed duration of a step, ms. */
  readonly stepMs: number;
  /** Additional duration per prefill token of the step, ms. */
  readonly prefillTokenMs: number;
  /** Additional duration per decoding sequence of the step, ms. */
  readonly decodingMs: number;
  /** Additional duration per KV token resident during the step, ms. */
  readonly residentTokenMs: number;
}

/** Small enough that some 5 requests per second saturate an engine. */
export const DEFAULT_ENGINE: EngineSettings = {
  slots: 12,
  kvTokens: 16_384,
  stepTokens: 512,
  stepMs: 12,
  prefillTokenMs: 0.08,
  decodingMs: 0.06,
  residentTokenMs: 0.000_05,
};

export interface EngineRequest {
  /** Unique among the requests inside. */
  readonly id: number;
  /** At least 1. */
  readonly promptTokens: number;
  /** At least 1. */
  readonly outputTokens: number;
  /** A `reached` event tells when this many tokens are generated. */
  readonly tellAtToken?: number;
}

/** What became of a request that produced all its tokens; times as the engine's clock has them. */
export interface FinishedRequest {
  readonly request: EngineRequest;
  readonly arrivedMs: number;
  /** Start of the step that first computed for it. */
  readonly scheduledMs: number;
  readonly firstTokenMs: number;
  readonly finishedMs: number;
}

export type EngineEvent =
  | { readonly kind: 'first_token' | 'reached'; readonly id: number; readonly atMs: number }
  | {
      readonly kind: 'finished';
      readonly id: number;
      readonly atMs: number;
      readonly result: FinishedRequest;
    };

/** As of the end of the last step. */
export interface EngineGauges {
  readonly running: number;
  readonly waiting: number;
  /** 0..1 */
  readonly kvUtilization: number;
}

/** Since the start. */
export interface EngineCounters {
  readonly steps: number;
  readonly finished: number;
  readonly aborted: number;
  readonly preemptions: number;
  /** Prompts that a step has begun with, counted once each. */
  readonly takenInTokens: number;
  /** Prompts that have had their first token. */
  readonly promptTokens: number;
  readonly generatedTokens: number;
}

interface Sequence {
  readonly request: EngineRequest;
  readonly arrivedMs: number;
  scheduledMs: number | undefined;
  firstTokenMs: number | undefined;
  /** Tokens generated so far. */
  generated: number;
  /** Tokens to compute before it can generate (again): the prompt and what a preemption threw away. */
  prefillTarget: number;
  /** Tokens of that computed so far. */
  prefilled: number;
  /** KV tokens that it holds: all of its prefill from admission on, one more per decoding step. */
  kv: number;
}

interface Step {
  readonly endsMs: number;
  /** Prompts that it begins with, tokens. */
  readonly takenInTokens: number;
  readonly decoding: readonly Sequence[];
  /** Those whose prefill this step completes: they generate a token. */
  readonly prefillDone: readonly Sequence[];
}

export class Engine {
  readonly settings: EngineSettings;
  #slowness = 1;
  #arrived: Sequence[] = [];
  #waiting: Sequence[] = [];
  /** In order of admission. */
  #running: Sequence[] = [];
  readonly #leaving = new Set<number>();
  #kv = 0;
  #step: Step | undefined;
  #gauges: EngineGauges = { running: 0, waiting: 0, kvUtilization: 0 };
  #steps = 0;
  #finished = 0;
  #aborted = 0;
  #preemptions = 0;
  #takenInTokens = 0;
  #promptTokens = 0;
  #generatedTokens = 0;

  constructor(settings: EngineSettings = DEFAULT_ENGINE) {
    this.settings = settings;
  }

  /** Factor on the duration of the steps that start from now on; 2: half speed. */
  set slowness(factor: number) {
    this.#slowness = factor;
  }

  get gauges(): EngineGauges {
    return this.#gauges;
  }

  get counters(): EngineCounters {
    return {
      steps: this.#steps,
      finished: this.#finished,
      aborted: this.#aborted,
      preemptions: this.#preemptions,
      takenInTokens: this.#takenInTokens,
      promptTokens: this.#promptTokens,
      generatedTokens: this.#generatedTokens,
    };
  }

  /** Requests inside at this moment, whatever the gauges say. */
  get inside(): number {
    return this.#arrived.length + this.#waiting.length + this.#running.length - this.#leaving.size;
  }

  /** When the step in flight ends; undefined: idle. */
  get nextMs(): number | undefined {
    return this.#step?.endsMs;
  }

  /** Whether a request can ever run: alone, it must fit into the KV cache. */
  fits(request: EngineRequest): boolean {
    return request.promptTokens + request.outputTokens <= this.settings.kvTokens;
  }

  /** Takes in a request that {@link fits}. Call {@link advance} to `nowMs` first. */
  add(request: EngineRequest, nowMs: number): void {
    this.#arrived.push({
      request,
      arrivedMs: nowMs,
      scheduledMs: undefined,
      firstTokenMs: undefined,
      generated: 0,
      prefillTarget: request.promptTokens,
      prefilled: 0,
      kv: 0,
    });
    if (this.#step === undefined) this.#begin(nowMs);
  }

  /** Removes a request as soon as the step in flight has ended. Harmless for one that is not inside. */
  abort(id: number): void {
    const has = (sequence: Sequence): boolean => sequence.request.id === id;
    if (this.#running.some(has) || this.#waiting.some(has) || this.#arrived.some(has)) this.#leaving.add(id);
  }

  /** Ends every step that is due by `nowMs` and returns what happened, in order. */
  advance(nowMs: number): readonly EngineEvent[] {
    const events: EngineEvent[] = [];
    while (this.#step !== undefined && this.#step.endsMs <= nowMs) {
      const step = this.#step;
      this.#end(step, events);
      this.#begin(step.endsMs);
    }
    return events;
  }

  #begin(nowMs: number): void {
    this.#waiting.push(...this.#arrived);
    this.#arrived = [];
    this.#removeLeaving();
    this.#step = this.#running.length + this.#waiting.length === 0 ? undefined : this.#plan(nowMs);
  }

  #removeLeaving(): void {
    if (this.#leaving.size === 0) return;
    const stays = (sequence: Sequence): boolean => !this.#leaving.has(sequence.request.id);
    for (const sequence of this.#running) if (!stays(sequence)) this.#kv -= sequence.kv;
    this.#running = this.#running.filter(stays);
    this.#waiting = this.#waiting.filter(stays);
    this.#aborted += this.#leaving.size;
    this.#leaving.clear();
  }

  #plan(nowMs: number): Step {
    const { stepTokens, stepMs, prefillTokenMs, decodingMs, residentTokenMs } = this.settings;
    const preempted = this.#makeRoom();
    const decoding = this.#running.filter((sequence) => sequence.prefilled === sequence.prefillTarget);
    for (const sequence of decoding) sequence.kv++;
    this.#kv += decoding.length;
    let budget = stepTokens - decoding.length;
    const prefillDone: Sequence[] = [];
    let takenInTokens = 0;
    const prefill = (sequence: Sequence): void => {
      const chunk = Math.min(budget, sequence.prefillTarget - sequence.prefilled);
      budget -= chunk;
      sequence.prefilled += chunk;
      if (sequence.prefilled === sequence.prefillTarget) prefillDone.push(sequence);
    };
    for (const sequence of this.#running) {
      if (sequence.prefilled < sequence.prefillTarget && budget > 0) prefill(sequence);
    }
    // A step that had to preempt admits nobody, or the preempted one would be back at once.
    while (!preempted && budget > 0) {
      const admitted = this.#admit();
      if (admitted === undefined) break;
      if (admitted.scheduledMs === undefined) takenInTokens += admitted.request.promptTokens;
      admitted.scheduledMs ??= nowMs;
      prefill(admitted);
    }
    const prefillTokens = stepTokens - decoding.length - budget;
    const durationMs =
      stepMs + prefillTokenMs * prefillTokens + decodingMs * decoding.length + residentTokenMs * this.#kv;
    return { endsMs: nowMs + durationMs * this.#slowness, takenInTokens, decoding, prefillDone };
  }

  /** Preempts until every decoding sequence has room for its next token. */
  #makeRoom(): boolean {
    let preempted = false;
    for (;;) {
      const decoding = this.#running.filter(
        (sequence) => sequence.prefilled === sequence.prefillTarget,
      ).length;
      if (this.#kv + decoding <= this.settings.kvTokens) return preempted;
      const last = this.#running.pop();
      if (last === undefined) return preempted;
      this.#kv -= last.kv;
      last.kv = 0;
      last.prefilled = 0;
      last.prefillTarget = last.request.promptTokens + last.generated;
      this.#waiting.unshift(last);
      this.#preemptions++;
      preempted = true;
    }
  }

  /** The head of the queue, if a slot is free and the whole of its prefill fits into the KV cache. */
  #admit(): Sequence | undefined {
    const head = this.#waiting[0];
    if (head === undefined || this.#running.length >= this.settings.slots) return undefined;
    if (head.prefillTarget > this.settings.kvTokens - this.#kv) return undefined;
    this.#waiting.shift();
    head.kv = head.prefillTarget;
    this.#kv += head.kv;
    this.#running.push(head);
    return head;
  }

  #end(step: Step, events: EngineEvent[]): void {
    this.#steps++;
    this.#takenInTokens += step.takenInTokens;
    for (const sequence of step.decoding) this.#generate(sequence, step.endsMs, events);
    for (const sequence of step.prefillDone) this.#generate(sequence, step.endsMs, events);
    this.#gauges = {
      running: this.#running.length,
      waiting: this.#waiting.length,
      kvUtilization: this.#kv / this.settings.kvTokens,
    };
  }

  #generate(sequence: Sequence, atMs: number, events: EngineEvent[]): void {
    const { request, arrivedMs } = sequence;
    sequence.generated++;
    this.#generatedTokens++;
    if (sequence.firstTokenMs === undefined) {
      sequence.firstTokenMs = atMs;
      this.#promptTokens += request.promptTokens;
      events.push({ kind: 'first_token', id: request.id, atMs });
    }
    if (sequence.generated === request.tellAtToken) events.push({ kind: 'reached', id: request.id, atMs });
    if (sequence.generated < request.outputTokens) return;
    this.#running.splice(this.#running.indexOf(sequence), 1);
    this.#kv -= sequence.kv;
    this.#leaving.delete(request.id);
    this.#finished++;
    const { scheduledMs = atMs, firstTokenMs } = sequence;
    const result = { request, arrivedMs, scheduledMs, firstTokenMs, finishedMs: atMs };
    events.push({ kind: 'finished', id: request.id, atMs, result });
  }
}
