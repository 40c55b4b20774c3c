import { Server, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { ListenAddress } from '../core/model/configuration.ts';
import type { SnapshotSource } from '../publish/snapshot-store.ts';
import type { Clock } from '../runtime/clock.ts';
import { FirstTime } from '../runtime/first-time.ts';
import type { Logger } from '../runtime/log.ts';
import { LogLimiter } from '../runtime/log-limiter.ts';
import { printable } from '../runtime/text.ts';
import { Admission } from './admission.ts';
import { transportOf } from './call-transport.ts';
import type { Connection } from './connection.ts';
import { Feeds } from './feeds.ts';
import { grpcOptions } from './grpc-options.ts';
import { HttpStreams } from './http-streams.ts';
import type { Identity } from './identity.ts';
import { createInjector, type Injector } from './injector.ts';
import type { XdsObserver } from './observer.ts';
import { Reception } from './reception.ts';
import type { Refusal } from './refusal.ts';
import { Refusals } from './refusals.ts';
import type { NodeIdentity, Request } from './request.ts';
import { RequestMeter } from './request-meter.ts';
import type { VariantName } from './response-cache.ts';
import { definitionOf, type XdsService } from './service.ts';
import type { XdsSettings } from './settings.ts';
import { XdsStream } from './stream.ts';
import { type StreamContext, UNNAMED } from './stream-context.ts';
import type { TlsSettings } from './tls-front.ts';
import { DELTA, SOTW, type Variant } from './variant.ts';

export type { XdsObserver } from './observer.ts';

/** How long {@link XdsServer.stop} lets connections close on their own. */
const STOP_GRACE_MS = 1_000;

/** How often streams are looked after, at the least, and how often within the shortest time that they are given. */
const SWEEP_MS = 5_000;
const SWEEPS_PER_LIMIT = 6;

/** Clients choose type URLs and names: no more than this many different ones of each are warned of in an hour. */
const UNKNOWN_LIMIT = 32;

type Call = ServerDuplexStream<Buffer, Buffer>;

type Stream = Pick<XdsStream<Request>, 'ended' | 'receive' | 'sweep' | 'end' | 'cutOff' | 'close'>;

/** Serves snapshots to sidecars, state of the world and delta. What the resources are it does not know. */
export class XdsServer {
  readonly #context: StreamContext;
  readonly #log: Logger;
  readonly #reception: Reception;
  readonly #grpc: Server;
  readonly #httpStreams = new HttpStreams();
  readonly #injector: Injector;
  readonly #streams = new Set<Stream>();
  readonly #admission: Admission;
  #cancelSweep: (() => void) | undefined;
  readonly #unknownTypes: FirstTime;
  readonly #unknownNames: FirstTime;
  readonly #feeds: Feeds;
  #stopped: Promise<void> | undefined;

  constructor(options: {
    readonly services: readonly XdsService[];
    /**
     * Where a client's resources come from. Called for each stream when it opens, with a node without names, and once
     * more when its first request has told the node.
     * @param kind the stream's service.
     * @param identities who the client is by its certificate; empty: it has none.
     * @returns undefined: the client may see nothing, its stream is refused.
     */
    readonly sourceOf: (
      node: NodeIdentity,
      kind: string,
      identities: readonly Identity[],
    ) => SnapshotSource | undefined;
    /** undefined: plain text. */
    readonly tls?: TlsSettings | undefined;
    readonly settings: XdsSettings;
    readonly clock: Clock;
    readonly log: Logger;
    readonly observer: XdsObserver;
  }) {
    const { sourceOf, settings, clock, log, observer } = options;
    const { limits } = settings;
    const warnings = new LogLimiter({ log, clock });
    const refusals = new Refusals(observer, warnings);
    this.#log = log;
    this.#unknownTypes = new FirstTime(UNKNOWN_LIMIT, () => clock.now());
    this.#unknownNames = new FirstTime(UNKNOWN_LIMIT, () => clock.now());
    this.#feeds = new Feeds(clock);
    this.#admission = new Admission(limits, () => clock.now());
    this.#grpc = new Server(grpcOptions(settings));
    this.#injector = createInjector(this.#grpc, (stream, headers) => {
      this.#httpStreams.add(stream, headers);
    });
    const unknownType = (typeUrl: string, node: string): void => {
      this.#unknownType(typeUrl, node);
    };
    const unknownName: StreamContext['unknownName'] = (typeUrl, name, node, existing) => {
      this.#unknownName(typeUrl, name, node, existing);
    };
    const join: StreamContext['join'] = ({ node, kind, identities }, stream) => {
      const source = sourceOf(node, kind, identities);
      return source === undefined ? undefined : this.#feeds.join(source, stream);
    };
    const admits: StreamContext['admits'] = (kind, identities) =>
      sourceOf(UNNAMED, kind, identities) !== undefined;
    this.#context = { admits, join, clock, limits, warnings, refusals, observer, unknownType, unknownName };
    for (const service of options.services) {
      this.#grpc.addService(definitionOf(service), {
        sotw: (call: Call) => {
          this.#serve(service, SOTW, call);
        },
        delta: (call: Call) => {
          this.#serve(service, DELTA, call);
        },
      });
    }
    this.#reception = new Reception({
      limits,
      tls: options.tls,
      clock,
      log,
      warnings,
      refusals,
      admission: this.#admission,
      accept: (socket) => {
        this.#injector.injectConnection(socket);
      },
    });
  }

  /**
   * @returns the bound address.
   * @throws PlimsollError `io` when a certificate cannot be used or the address cannot be bound, such as a port in use.
   */
  async listen(address: ListenAddress): Promise<ListenAddress> {
    const bound = await this.#reception.listen(address);
    this.#scheduleSweep();
    return bound;
  }

  /** Ends all streams with UNAVAILABLE and closes; resolves when the port is free. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#cancelSweep?.();
    this.#feeds.close();
    const closed = this.#reception.close();
    for (const stream of this.#streams) stream.end(status.UNAVAILABLE, 'the control plane stops');
    this.#injector.destroy();
    const cancel = this.#context.clock.schedule(STOP_GRACE_MS, () => {
      this.#reception.abortAll();
    });
    await closed;
    cancel();
    this.#context.warnings.flush();
  }

  /** Looks after all streams at once: a timer for each would cost more than the streams do. */
  #scheduleSweep(): void {
    const { clock, limits } = this.#context;
    const shortest = Math.min(limits.readSeconds, limits.ackSeconds) * 1000;
    this.#cancelSweep = clock.schedule(Math.min(SWEEP_MS, shortest / SWEEPS_PER_LIMIT), () => {
      for (const stream of this.#streams) stream.sweep();
      this.#admission.sweep();
      this.#scheduleSweep();
    });
  }

  #serve<R extends Request>(service: XdsService, variant: Variant<R>, call: Call): void {
    const connection = this.#reception.connectionOf(call.getPeer());
    const client = connection?.client;
    const httpStream = this.#httpStreams.take(call);
    if (connection === undefined || client === undefined || httpStream === undefined) {
      call.emit('error', { code: status.UNAVAILABLE, details: 'the connection is closed' });
      return;
    }
    const { clock, limits, refusals } = this.#context;
    const admitted = this.#admission.openStream(client.key);
    if (admitted.kind === 'refused') {
      refusals.tell(admitted.refusal, client.name, '');
      refuse(call, connection, admitted.refusal);
      connection.linger({ isOpen: () => isOpen(call), closed: () => undefined }, clock.now());
      return;
    }
    const stream = new XdsStream({
      kind: service.kind,
      client: client.name,
      peer: connection.peer,
      identities: connection.identities,
      variant,
      types: service.types,
      meter: new RequestMeter(limits, admitted.meter, clock.now()),
      context: this.#context,
      transport: transportOf(call, httpStream, connection),
    });
    this.#follow(call, connection, stream, service.kind, variant.name);
    stream.open();
  }

  /** From its opening to its end. */
  #follow(call: Call, connection: Connection, stream: Stream, kind: string, variant: VariantName): void {
    const { clock, observer } = this.#context;
    this.#streams.add(stream);
    connection.openStream();
    observer.streamOpened(kind, variant);
    call.on('data', (bytes: Buffer) => {
      connection.received(bytes.byteLength);
      stream.receive(bytes);
    });
    let clientEnded = false;
    call.on('end', () => {
      clientEnded = true;
      stream.end(status.OK, '');
    });
    call.on('close', () => {
      if (!stream.ended && isOpen(call) && call.getDeadline() === Number.POSITIVE_INFINITY) stream.cutOff();
      stream.close();
      this.#streams.delete(stream);
      observer.streamClosed(kind, variant, stream);
      connection.closeStream(clock.now());
      this.#leave(call, connection, clientEnded);
    });
  }

  /** A stream that the client has not ended counts for it as long as HTTP/2 has it, which may be for longer than the call. */
  #leave(call: Call, connection: Connection, clientEnded: boolean): void {
    const leave = (): void => {
      if (connection.client !== undefined) this.#admission.closeStream(connection.client.key);
    };
    const open = isOpen(call);
    const counts = open && !clientEnded;
    if (!counts) leave();
    if (!open) return;
    const closed = counts ? leave : (): void => undefined;
    connection.linger({ isOpen: () => isOpen(call), closed }, this.#context.clock.now());
  }

  #unknownType(typeUrl: string, node: string): void {
    this.#context.observer.unknownType(typeUrl);
    if (!this.#unknownTypes.isFirst(typeUrl)) return;
    this.#log.warn(
      { type: typeUrl, node },
      'a sidecar asks for a type that is not served: it gets no answer',
    );
  }

  #unknownName(typeUrl: string, unknown: string, node: string, existing: ReadonlyMap<string, unknown>): void {
    this.#context.observer.unknownName(typeUrl);
    if (!this.#unknownNames.isFirst(`${typeUrl} ${unknown}`)) return;
    this.#log.warn(
      {
        type: typeUrl,
        name: printable(unknown),
        node,
        existing: [...existing.keys()].slice(0, 10),
        total: existing.size,
      },
      'a sidecar asks for a name that does not exist: it gets it when it appears',
    );
  }
}

/** The first request comes with the stream: it is read, as the connection would owe it otherwise, and then refused. */
function refuse(call: Call, connection: Connection, refusal: Refusal): void {
  call.on('data', (bytes: Buffer) => {
    connection.received(bytes.byteLength);
    call.emit('error', refusal);
  });
  call.on('end', () => {
    call.emit('error', refusal);
  });
}

/** Whether HTTP/2 still has the call's stream: only then the call knows its peer. A client may keep it open that has been told its end. */
function isOpen(call: Call): boolean {
  return call.getPeer() !== 'unknown';
}
