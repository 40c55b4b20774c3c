import { DISCOVERY } from './discovery-proto.ts';

export interface ReceivedResource {
  readonly typeUrl: string;
  readonly value: Buffer;
  /** Delta only; empty in state of the world. */
  readonly name: string;
  /** Delta only; empty in state of the world. */
  readonly version: string;
}

/** Either variant's response. */
export interface ReceivedResponse {
  readonly version: string;
  readonly typeUrl: string;
  readonly nonce: string;
  readonly resources: readonly ReceivedResource[];
  readonly removed: readonly string[];
  readonly bytes: Buffer;
}

interface AnyFields {
  /** So called by protobufjs' own reading of Any. */
  readonly type_url: string;
  readonly value: Uint8Array;
}

/** What protobufjs gives with defaults filled in. */
interface ResponseFields<R> {
  readonly resources: readonly R[];
  readonly typeUrl: string;
  readonly nonce: string;
}

export function readSotw(bytes: Buffer): ReceivedResponse {
  const type = DISCOVERY.DiscoveryResponse;
  const fields = type.toObject(type.decode(bytes), {
    defaults: true,
    arrays: true,
  }) as ResponseFields<AnyFields> & {
    readonly versionInfo: string;
  };
  const resources = fields.resources.map((any) => ({ ...received(any), name: '', version: '' }));
  return { ...shared(fields), version: fields.versionInfo, resources, removed: [], bytes };
}

export function readDelta(bytes: Buffer): ReceivedResponse {
  const type = DISCOVERY.DeltaDiscoveryResponse;
  const fields = type.toObject(type.decode(bytes), { defaults: true, arrays: true }) as ResponseFields<{
    readonly name: string;
    readonly version: string;
    readonly resource: AnyFields;
  }> & { readonly systemVersionInfo: string; readonly removedResources: readonly string[] };
  const resources = fields.resources.map(({ name, version, resource }) => ({
    ...received(resource),
    name,
    version,
  }));
  const removed = fields.removedResources;
  return { ...shared(fields), version: fields.systemVersionInfo, resources, removed, bytes };
}

function shared({ typeUrl, nonce }: ResponseFields<unknown>): Pick<ReceivedResponse, 'typeUrl' | 'nonce'> {
  return { typeUrl, nonce };
}

function received(any: AnyFields): Pick<ReceivedResource, 'typeUrl' | 'value'> {
  return { typeUrl: any.type_url, value: Buffer.from(any.value) };
}
