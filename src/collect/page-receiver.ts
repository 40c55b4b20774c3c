import type { Dispatcher } from 'undici';
import type { CollectFailureKind } from '../core/model/collection.ts';
import { inNextTurn } from '../runtime/next-turn.ts';
import { printable } from '../runtime/text.ts';
import { PageBuffer } from './page-buffer.ts';
import type { PageResult } from './page-source.ts';

/** What is read of an answer that is not used, so that its connection can be kept. */
const UNUSED_BYTES_MAX = 64 * 1024;

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

export interface ReceiverEvents {
  /** An answer of 1xx has come, before the answer itself; what it throws ends the request. */
  readonly onInterimAnswer: () => void;
  /** The head of the answer has come. */
  readonly onHead: () => void;
  /**
   * All of the answer has come.
   * @param delimited the head tells where the page ends; otherwise the end of the connection does
   */
  readonly onEnd: (result: PageResult, delimited: boolean) => void;
  /** There is no answer, or a part of it. */
  readonly onError: (error: Error) => void;
}

/**
 * Takes one answer from undici's `dispatch` as it comes, without the stream and the promises that `request` makes of
 * it.
 */
export class PageReceiver implements Dispatcher.DispatchHandler {
  readonly #fleeting: boolean;
  readonly #events: ReceiverEvents;
  #controller: Controller | undefined;
  /** Why it is ended. */
  #end: Error | undefined;
  #refusal: PageResult | undefined;
  #delimited = false;
  /** undefined: the head does not tell. */
  #length: number | undefined;
  #unused = 0;
  #whole: Buffer | undefined;
  #pieces: PageBuffer | undefined;

  /**
   * @param fleeting the page is valid until the event loop has its next turn, and no longer: then it is not copied.
   * @param events one of `onEnd` and `onError` is called, once
   */
  constructor(fleeting: boolean, events: ReceiverEvents) {
    this.#fleeting = fleeting;
    this.#events = events;
  }

  /** Gives up; before the request is written, when it is about to be. */
  abort(): void {
    this.#end = new Error('given up');
    this.#controller?.abort(this.#end);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#end !== undefined) controller.abort(this.#end);
  }

  onResponseStart(_: Controller, status: number, headers: Headers): void {
    if (status < 200) {
      this.#events.onInterimAnswer();
      return;
    }
    this.#events.onHead();
    this.#refusal = refuse(status, headers);
    const length = headers['content-length'];
    this.#length = length === undefined ? undefined : Number(length);
    this.#delimited = length !== undefined || headers['transfer-encoding'] !== undefined;
  }

  onResponseData(controller: Controller, piece: Buffer): void {
    if (this.#refusal !== undefined) {
      this.#unused += piece.length;
      if (this.#unused > UNUSED_BYTES_MAX) controller.abort(new Error('not read any further'));
    } else if (piece.length === this.#length) {
      this.#whole = piece;
    } else {
      this.#pieces ??= new PageBuffer();
      this.#pieces.add(piece);
    }
  }

  onResponseEnd(): void {
    const bytes = this.#whole ?? this.#pieces?.bytes ?? Buffer.alloc(0);
    const page = this.#fleeting ? bytes : Buffer.from(bytes);
    if (this.#pieces !== undefined) inNextTurn(() => this.#pieces?.free());
    this.#events.onEnd(this.#refusal ?? { kind: 'page', page }, this.#delimited);
  }

  onResponseError(_: Controller, error: Error): void {
    this.#pieces?.free();
    if (this.#refusal === undefined) this.#events.onError(error);
    else this.#events.onEnd(this.#refusal, true);
  }
}

/** Why an answer is not read, from its head. */
function refuse(status: number, headers: Headers): PageResult | undefined {
  if (status !== 200) return failedFetch('status', `status ${status}`);
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return failedFetch(
      'protocol',
      `content-encoding ${printable(String(encoding), 20)} where identity was asked for`,
    );
  }
  const type = String(headers['content-type'] ?? '');
  if (/^\s*text\/html\b/i.test(type)) return failedFetch('not_metrics', 'not metrics: text/html');
  return undefined;
}

export function failedFetch(kind: CollectFailureKind, message: string): PageResult {
  return { kind: 'failure', failure: { kind, message } };
}
