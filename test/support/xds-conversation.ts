import assert from 'node:assert/strict';
import type { ReceivedResponse } from './discovery-response.ts';
import type { RequestFields, ServiceKind, XdsClient, XdsTestStream } from './xds-client.ts';

/** Which stream, and of which type. */
export interface Subject {
  readonly kind: ServiceKind;
  readonly variant: 'sotw' | 'delta';
  readonly typeUrl: string;
}

/** `name@version …` by names, with `-name` for what was removed, of resources whose bytes say so. */
export function contentOf({ resources, removed }: ReceivedResponse): string {
  return [...resources.map(({ value }) => value.toString()), ...removed.map((name) => `-${name}`)].join(' ');
}

/** A client of one type on one stream that speaks either variant, with the nonces that a test wants. */
export class Conversation {
  readonly stream: XdsTestStream;
  readonly #client: XdsClient;
  readonly #subject: Subject;
  #names: readonly string[] = [];
  #last: ReceivedResponse | undefined;

  /** @param stream where more types than one are to share it. */
  constructor(client: XdsClient, subject: Subject, stream = client.open(subject.kind, subject.variant)) {
    this.#client = client;
    this.#subject = subject;
    this.stream = stream;
  }

  /** The nonce of the last response. */
  get nonce(): string {
    return this.#last?.nonce ?? '';
  }

  /** Asks for these names and no others from here on. */
  ask(names: readonly string[], fields: RequestFields = {}): void {
    const before = this.#names;
    this.#names = names;
    if (this.#subject.variant === 'sotw') {
      this.send({ resourceNames: names, ...fields });
    } else {
      this.send({
        resourceNamesSubscribe: names.filter((name) => !before.includes(name)),
        resourceNamesUnsubscribe: before.filter((name) => !names.includes(name)),
        ...fields,
      });
    }
  }

  /** Asks for what it asks for already: in delta once more by name, in state of the world by leaving it for a moment. */
  askAgain(): void {
    const names = this.#names;
    if (this.#subject.variant === 'delta') {
      this.send({ resourceNamesSubscribe: names });
    } else {
      this.ask(['']);
      this.ask(names);
    }
  }

  /** A request that asks for nothing new. */
  repeat(fields: RequestFields = {}): void {
    this.ask(this.#names, fields);
  }

  send(fields: RequestFields): void {
    this.stream.send({ typeUrl: this.#subject.typeUrl, ...fields });
  }

  /** The content of the next response. */
  async next(): Promise<string> {
    this.#last = await this.stream.next();
    assert.equal(this.#last.typeUrl, this.#subject.typeUrl);
    return contentOf(this.#last);
  }

  acknowledge(): void {
    if (this.#last !== undefined) this.stream.acknowledge(this.#last, this.#names);
  }

  reject(message: string): void {
    if (this.#last !== undefined) this.stream.reject(this.#last, message, this.#names);
  }

  /** The content of the next response, acknowledged. */
  async take(): Promise<string> {
    const content = await this.next();
    this.acknowledge();
    return content;
  }

  /** Asserts that nothing has been sent but what was taken; a round trip on the same connection says when to look. */
  async quiet(message?: string): Promise<void> {
    const other = this.#client.open('ads', 'sotw');
    other.send({ typeUrl: 'type.googleapis.com/envoy.config.cluster.v3.Cluster' });
    await other.next();
    other.cancel();
    assert.deepEqual(this.stream.left.map(contentOf), [], message);
  }
}
