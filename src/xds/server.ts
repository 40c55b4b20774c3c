import { Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { ListenAddress } from '../core/model.ts';
import type { SnapshotSource } from '../publish/snapshot-store.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { Connections } from './connections.ts';
import { Feed } from './feed.ts';
import type { XdsObserver } from './observer.ts';
import type { Request } from './request.ts';
import { definitionOf, XDS_SERVICES, type XdsService } from './services.ts';
import { type StreamContext, type StreamTransport, XdsStream } from './stream.ts';
import { DELTA, SOTW, type Variant } from './variant.ts';

export type { XdsObserver } from './observer.ts';

const GRPC_OPTIONS = {
  'grpc.max_receive_message_length': 1024 * 1024,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // Without ADS an Envoy opens a stream for each of its clusters, all on one connection.
  'grpc.max_concurrent_streams': 10_000,
  'grpc.enable_channelz': 0,
};

/** How long {@link XdsServer.stop} lets connections close on their own. */
const STOP_GRACE_MS = 1_000;

/** Clients choose type URLs and names: no more than this many different ones of each are warned of. */
const UNKNOWN_LIMIT = 32;

type Call = ServerDuplexStream<Buffer, Buffer>;

/** Serves the snapshots of a source to sidecars: ADS and EDS, state of the world and delta. */
export class XdsServer {
  readonly #source: SnapshotSource;
  readonly #context: StreamContext;
  readonly #connections: Connections;
  readonly #grpc = new Server(GRPC_OPTIONS);
  readonly #injector = this.#grpc.createConnectionInjector(ServerCredentials.createInsecure());
  readonly #streams = new Set<Pick<XdsStream<Request>, 'push' | 'end'>>();
  readonly #unknownTypes = new Set<string>();
  readonly #unknownNames = new Set<string>();
  #unsubscribe: (() => void) | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: {
    readonly source: SnapshotSource;
    readonly clock: Clock;
    readonly log: Logger;
    readonly observer: XdsObserver;
  }) {
    const { source, clock, log, observer } = options;
    this.#source = source;
    const unknownType = (typeUrl: string, node: string): void => {
      this.#unknownType(typeUrl, node);
    };
    const unknownName = (typeUrl: string, name: string, node: string): void => {
      this.#unknownName(typeUrl, name, node);
    };
    this.#context = { feed: new Feed(), clock, log, observer, unknownType, unknownName };
    for (const service of XDS_SERVICES) {
      this.#grpc.addService(definitionOf(service), {
        sotw: (call: Call) => {
          this.#serve(service, SOTW, call);
        },
        delta: (call: Call) => {
          this.#serve(service, DELTA, call);
        },
      });
    }
    this.#connections = new Connections((socket) => {
      this.#injector.injectConnection(socket);
    });
  }

  /**
   * @returns the bound address.
   * @throws PlimsollError `io` when the address cannot be bound, such as a port in use.
   */
  async listen(address: ListenAddress): Promise<ListenAddress> {
    const bound = await this.#connections.listen(address);
    const { feed } = this.#context;
    if (this.#source.current !== undefined) feed.accept(this.#source.current);
    this.#unsubscribe = this.#source.subscribe((snapshot) => {
      feed.accept(snapshot);
      for (const stream of this.#streams) stream.push();
    });
    return bound;
  }

  /** Ends all streams with UNAVAILABLE and closes; resolves when the port is free. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#unsubscribe?.();
    const closed = this.#connections.close();
    for (const stream of this.#streams) stream.end(status.UNAVAILABLE, 'the control plane stops');
    this.#injector.destroy();
    const cancel = this.#context.clock.schedule(STOP_GRACE_MS, () => {
      this.#connections.abortAll();
    });
    await closed;
    cancel();
  }

  #serve<R extends Request>(service: XdsService, variant: Variant<R>, call: Call): void {
    const { kind, types } = service;
    const { observer } = this.#context;
    const peer = call.getPeer();
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
    const stream = new XdsStream({ kind, variant, types, context: this.#context, transport });
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
      observer.streamClosed(kind, variant.name);
    });
  }

  #unknownType(typeUrl: string, node: string): void {
    this.#context.observer.unknownType(typeUrl);
    if (!isNew(this.#unknownTypes, typeUrl)) return;
    this.#context.log.warn(
      { type: typeUrl, node },
      'a sidecar asks for a type that is not served: it gets no answer',
    );
  }

  #unknownName(typeUrl: string, name: string, node: string): void {
    this.#context.observer.unknownName(typeUrl);
    if (!isNew(this.#unknownNames, `${typeUrl} ${name}`)) return;
    const existing = [...(this.#source.current?.resources.get(typeUrl)?.keys() ?? [])];
    this.#context.log.warn(
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
