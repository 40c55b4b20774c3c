import { WireReader } from './wire.ts';

/**
 * The parts of `envoy.service.discovery.v3.DiscoveryRequest` and `DeltaDiscoveryRequest` that a server needs. Read by
 * hand: acknowledgements outnumber all other messages, and the first request of an Envoy is tens of kilobytes of
 * which two texts matter.
 */
export interface Request {
  readonly typeUrl: string;
  /** Of the response that this request answers; empty: of none. */
  readonly nonce: string;
  /** Set: the response with this nonce was rejected. */
  readonly error: RequestError | undefined;
  /** As far as it was asked for. */
  readonly node: NodeIdentity | undefined;
  /** undefined: the request has no node. */
  readonly nodeId: string | undefined;
}

export interface RequestError {
  readonly code: number;
  /** Cut at {@link ERROR_MESSAGE_BYTES}; not made printable. */
  readonly message: string;
}

export interface NodeIdentity {
  readonly id: string;
  readonly cluster: string;
  /** What software the client is: `envoy`, `gRPC Go`, … */
  readonly userAgent: string;
  /** Where it runs; empty: it does not say. */
  readonly zone: string;
}

export interface DiscoveryRequest extends Request {
  readonly names: readonly string[];
}

export interface DeltaDiscoveryRequest extends Request {
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** By name: the version that the client has from an earlier stream. */
  readonly initialVersions: ReadonlyMap<string, string>;
}

export type ReadResult<R> =
  | { readonly kind: 'request'; readonly request: R }
  | { readonly kind: 'malformed'; readonly reason: string };

/** Envoy puts the whole rejected resource into the message. */
export const ERROR_MESSAGE_BYTES = 1024;

/** @param withNode whether all of `node` is read or only its id: only a stream's first message needs to have it. */
export function readDiscoveryRequest(bytes: Buffer, withNode: boolean): ReadResult<DiscoveryRequest> {
  const reader = new WireReader(bytes);
  const names: string[] = [];
  let typeUrl = '';
  let nonce = '';
  let error: RequestError | undefined;
  let node: NodeIdentity | undefined;
  let nodeId: string | undefined;
  while (reader.next()) {
    switch (reader.field) {
      case 2:
        if (withNode) node = reader.message(readNode);
        nodeId = node?.id ?? reader.message(readNodeId);
        break;
      case 3:
        names.push(reader.string());
        break;
      case 4:
        typeUrl = reader.string();
        break;
      case 5:
        nonce = reader.string();
        break;
      case 6:
        error = reader.message(readStatus);
        break;
      default:
        reader.skip();
    }
  }
  return result(reader, { typeUrl, nonce, error, node, nodeId, names });
}

/** @param withNode whether all of `node` is read or only its id: only a stream's first message needs to have it. */
export function readDeltaDiscoveryRequest(
  bytes: Buffer,
  withNode: boolean,
): ReadResult<DeltaDiscoveryRequest> {
  const reader = new WireReader(bytes);
  const subscribe: string[] = [];
  const unsubscribe: string[] = [];
  const initialVersions = new Map<string, string>();
  let typeUrl = '';
  let nonce = '';
  let error: RequestError | undefined;
  let node: NodeIdentity | undefined;
  let nodeId: string | undefined;
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        if (withNode) node = reader.message(readNode);
        nodeId = node?.id ?? reader.message(readNodeId);
        break;
      case 2:
        typeUrl = reader.string();
        break;
      case 3:
        subscribe.push(reader.string());
        break;
      case 4:
        unsubscribe.push(reader.string());
        break;
      case 5:
        initialVersions.set(...reader.message(readMapEntry));
        break;
      case 6:
        nonce = reader.string();
        break;
      case 7:
        error = reader.message(readStatus);
        break;
      default:
        reader.skip();
    }
  }
  return result(reader, { typeUrl, nonce, error, node, nodeId, subscribe, unsubscribe, initialVersions });
}

function result<R>(reader: WireReader, request: R): ReadResult<R> {
  const reason = reader.failure;
  return reason === undefined ? { kind: 'request', request } : { kind: 'malformed', reason };
}

/** `envoy.config.core.v3.Node` */
function readNode(reader: WireReader): NodeIdentity {
  let id = '';
  let cluster = '';
  let userAgent = '';
  let zone = '';
  while (reader.next()) {
    if (reader.field === 1) id = reader.string();
    else if (reader.field === 2) cluster = reader.string();
    else if (reader.field === 4) zone = reader.message(readZone);
    else if (reader.field === 6) userAgent = reader.string();
    else reader.skip();
  }
  return { id, cluster, userAgent, zone };
}

/** `envoy.config.core.v3.Locality` */
function readZone(reader: WireReader): string {
  let zone = '';
  while (reader.next()) {
    if (reader.field === 2) zone = reader.string();
    else reader.skip();
  }
  return zone;
}

/** The id comes first, and tens of kilobytes may follow: they are not looked at. */
function readNodeId(reader: WireReader): string {
  while (reader.next()) {
    if (reader.field === 1) return reader.string();
    reader.skip();
  }
  return '';
}

/** `google.rpc.Status` */
function readStatus(reader: WireReader): RequestError {
  let code = 0;
  let message = '';
  while (reader.next()) {
    if (reader.field === 1) code = reader.int32();
    else if (reader.field === 2) message = reader.textCutAt(ERROR_MESSAGE_BYTES);
    else reader.skip();
  }
  return { code, message };
}

function readMapEntry(reader: WireReader): [key: string, value: string] {
  let key = '';
  let value = '';
  while (reader.next()) {
    if (reader.field === 1) key = reader.string();
    else if (reader.field === 2) value = reader.string();
    else reader.skip();
  }
  return [key, value];
}
