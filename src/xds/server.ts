import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { ListenAddress } from '../core/model.ts';
import type { SnapshotSource } from '../publish/snapshot-store.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { LogLimiter } from '../runtime/log-limiter.ts';
import { printable } from '../runtime/text.ts';
import { Admission } from './admission.ts';
import { addressOf, Connections, peerOf } from './connections.ts';
import { Feeds } from './feeds.ts';
import { grpcOptions } from './grpc-options.ts';
import { type Identity, identitiesOf } from './identity.ts';
import type { XdsObserver } from './observer.ts';
import type { Refusal } from './refusal.ts';
import { Refusals } from './refusals.ts';
import type { NodeIdentity, Request } from './request.ts';
import { definitionOf, type XdsService } from './service.ts';
import type { XdsSettings } from './settings.ts';
import { type StreamContext, type StreamTransport, XdsStream } from './stream.ts';
import { TlsFront, type TlsSettings } from './tls-front.ts';
import { DELTA, SOTW, type Variant } from './variant.ts';

export type { XdsObserver } from './observer.ts';

/** How long {@link XdsServer.stop} lets connections close on their own. */
const STOP_GRACE_MS = 1_000;

/** How often streams are looked after, at the least, and how often within the shortest time that they are given. */
const SWEEP_MS = 5_000;
const SWEEPS_PER_LIMIT = 6;

/** Clients choose type URLs and names: no more than this many different ones of each are warned of. */
const UNKNOWN_LIMIT = 32;

type Call = ServerDuplexStream<Buffer, Buffer>;

/** Serves snapshots to sidecars, state of the world and delta. What the resources are it does not know. */
export class XdsServer {
  readonly #context: StreamContext;
  readonly #log: Logger;
  readonly #connections: Connections;
  readonly #tls: TlsFront | undefined;
  readonly #grpc: Server;
  readonly #injector: ReturnType<Server['createConnectionInjector']>;
  readonly #streams = new Set<Pick<XdsStream<Request>, 'end' | 'sweep'>>();
  readonly #admission: Admission;
  #cancelSweep: (() => void) | undefined;
  readonly #unknownTypes = new Set<string>();
  readonly #unknownNames = new Set<string>();
  readonly #feeds: Feeds;
  #stopped: Promise<void> | undefined;

  constructor(options: {
    readonly services: readonly XdsService[];
    /**
     * Where a client's resources come from. Called once for each stream, when its first request has told the node.
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
    this.#feeds = new Feeds(clock);
    this.#admission = new Admission(limits, () => clock.now());
    this.#grpc = new Server(grpcOptions(settings));
    this.#injector = this.#grpc.createConnectionInjector(ServerCredentials.createInsecure());
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
    this.#context = { join, clock, limits, warnings, refusals, observer, unknownType, unknownName };
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
    const accept = (socket: TLSSocket): void => {
      this.#identify(socket);
    };
    this.#tls = options.tls && new TlsFront({ settings: options.tls, clock, log, warnings, accept });
    this.#connections = new Connections({
      limit: limits.streams,
      accept: (socket) => {
        this.#accept(socket);
      },
      dropped: (address) => {
        const details = `Xds.Limits.Streams: ${limits.streams} connections are open`;
        refusals.tell({ limit: 'Streams', details }, printable(address), '');
      },
    });
  }

  /**
   * @returns the bound address.
   * @throws PlimsollError `io` when a certificate cannot be used or the address cannot be bound, such as a port in use.
   */
  async listen(address: ListenAddress): Promise<ListenAddress> {
    await this.#tls?.open();
    try {
      const bound = await this.#connections.listen(address);
      this.#scheduleSweep();
      return bound;
    } catch (error) {
      await this.#tls?.close();
      throw error;
    }
  }

  /** Ends all streams with UNAVAILABLE and closes; resolves when the port is free. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#cancelSweep?.();
    const tlsClosed = this.#tls?.close();
    this.#feeds.close();
    const closed = this.#connections.close();
    for (const stream of this.#streams) stream.end(status.UNAVAILABLE, 'the control plane stops');
    this.#injector.destroy();
    const cancel = this.#context.clock.schedule(STOP_GRACE_MS, () => {
      this.#connections.abortAll();
    });
    await closed;
    await tlsClosed;
    cancel();
    this.#context.warnings.flush();
  }

  /** Looks after all streams at once: a timer for each would cost more than the streams do. */
  #scheduleSweep(): void {
    const { clock, limits } = this.#context;
    const shortest = Math.min(limits.readSeconds, limits.ackSeconds) * 1000;
    this.#cancelSweep = clock.schedule(Math.min(SWEEP_MS, shortest / SWEEPS_PER_LIMIT), () => {
      for (const stream of this.#streams) stream.sweep();
      for (const peer of this.#admission.sweep()) this.#connections.abort(peer);
      this.#scheduleSweep();
    });
  }

  #accept(socket: Socket): void {
    const peer = peerOf(socket);
    const client = addressOf(peer);
    const refusal = this.#admission.openConnection(peer, client);
    if (refusal !== undefined) {
      this.#turnAway(socket, refusal, client);
      return;
    }
    socket.once('close', () => {
      this.#admission.closeConnection(peer);
    });
    if (this.#tls === undefined) this.#injector.injectConnection(socket);
    else this.#tls.begin(socket);
  }

  /** Many clients may have one address: who has a certificate counts by that as soon as it is known. */
  #identify(socket: TLSSocket): void {
    const [identity] = identitiesOf(socket.getPeerCertificate().subjectaltname ?? '');
    const client = printable(identity?.name ?? '');
    const refusal = identity && this.#admission.identifyConnection(peerOf(socket), client);
    if (refusal === undefined) this.#injector.injectConnection(socket);
    else this.#turnAway(socket, refusal, client);
  }

  #turnAway(socket: Socket, refusal: Refusal, client: string): void {
    this.#context.refusals.tell(refusal, client, '');
    socket.destroy();
  }

  #serve<R extends Request>(service: XdsService, variant: Variant<R>, call: Call): void {
    const { kind, types } = service;
    const { observer } = this.#context;
    const peer = call.getPeer();
    const identities = identitiesOf(call.getAuthContext().sslPeerCertificate?.subjectaltname ?? '');
    const client = printable(identities[0]?.name ?? addressOf(peer));
    const refusal = this.#admission.openStream(peer, client);
    if (refusal !== undefined) {
      this.#context.refusals.tell(refusal, client, '');
      call.emit('error', refusal);
      return;
    }
    const transport: StreamTransport = {
      write: (bytes, done) => {
        call.write(bytes, (error: Error | null | undefined) => {
          if (error == null) done();
        });
      },
      end: (code, details) => {
        call.emit('error', { code, details });
      },
      abort: () => {
        this.#connections.abort(peer);
      },
    };
    const stream = new XdsStream({
      kind,
      client,
      identities,
      variant,
      types,
      context: this.#context,
      transport,
    });
    this.#streams.add(stream);
    observer.streamOpened(kind, variant.name);
    call.on('data', (bytes: Buffer) => {
      stream.receive(bytes);
    });
    call.on('end', () => {
      stream.end(status.OK, '');
    });
    call.on('close', () => {
      stream.close();
      this.#streams.delete(stream);
      this.#admission.closeStream(peer, client);
      observer.streamClosed(kind, variant.name, stream);
    });
  }

  #unknownType(typeUrl: string, node: string): void {
    this.#context.observer.unknownType(typeUrl);
    if (!isNew(this.#unknownTypes, typeUrl)) return;
    this.#log.warn(
      { type: typeUrl, node },
      'a sidecar asks for a type that is not served: it gets no answer',
    );
  }

  #unknownName(typeUrl: string, name: string, node: string, existing: readonly string[]): void {
    this.#context.observer.unknownName(typeUrl);
    if (!isNew(this.#unknownNames, `${typeUrl} ${name}`)) return;
    this.#log.warn(
      { type: typeUrl, name, node, existing: existing.slice(0, 10), total: existing.length },
      'a sidecar asks for a name that does not exist: it gets it when it appears',
    );
  }
}

/** Whether `text` is met for the first time, as long as there is room to remember it. */
function isNew(known: Set<string>, text: string): boolean {
  if (known.has(text) || known.size >= UNKNOWN_LIMIT) return false;
  known.add(text);
  return true;
}
