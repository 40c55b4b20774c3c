import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { lengthDelimited, type Pieces } from '../../../src/xds/wire.ts';
import { GROUP } from './assignment.ts';
import type { ScannedResponse } from './response-scanner.ts';

export type Variant = 'sotw' | 'delta';

export const PATHS: Readonly<Record<Variant, string>> = {
  sotw: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
  delta: '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources',
};

/** As many as an Envoy 1.40 tells of, with about 110 bytes each. */
const EXTENSIONS = 516;

/** The first request of an Envoy: 61 kB, nearly all of it the list of the extensions that it was built with. */
export function firstRequest(variant: Variant, nodeId: string): Buffer {
  const node = [...lengthDelimited(1, nodeId), ...lengthDelimited(2, 'bench'), ...EXTENSION_FIELDS];
  if (variant === 'sotw') {
    return Buffer.concat([
      ...lengthDelimited(2, node),
      ...lengthDelimited(3, GROUP),
      ...lengthDelimited(4, TYPE_URLS.endpoint),
    ]);
  }
  return Buffer.concat([
    ...lengthDelimited(1, node),
    ...lengthDelimited(2, TYPE_URLS.endpoint),
    ...lengthDelimited(3, GROUP),
  ]);
}

export function acknowledgement(variant: Variant, { version, nonce }: ScannedResponse): Buffer {
  if (variant === 'sotw') {
    return Buffer.concat([
      ...lengthDelimited(1, version),
      ...lengthDelimited(3, GROUP),
      ...lengthDelimited(4, TYPE_URLS.endpoint),
      ...lengthDelimited(5, nonce),
    ]);
  }
  return Buffer.concat([...lengthDelimited(2, TYPE_URLS.endpoint), ...lengthDelimited(6, nonce)]);
}

const EXTENSION_FIELDS: Pieces = [
  Buffer.concat(
    Array.from({ length: EXTENSIONS }, (_, index) =>
      lengthDelimited(9, [
        ...lengthDelimited(1, `envoy.filters.http.extension_number_${index}`),
        ...lengthDelimited(2, 'envoy.filters.http'),
        ...lengthDelimited(6, `envoy.extensions.filters.http.v3.ExtensionNumber${index}`),
      ]),
    ).flat(),
  ),
];
