import type { GoTool } from '../support/go-tool.ts';

/** What the tests of this folder run or read, from the Go module proxy. */

const GATEWAY_VERSION = 'v1.9.1';

export const ENVOY_GATEWAY: GoTool = {
  name: 'envoy-gateway',
  source: {
    kind: 'package',
    path: 'github.com/envoyproxy/gateway/cmd/envoy-gateway',
    version: GATEWAY_VERSION,
  },
};

/** A module, and the folder or file in it with CRDs. */
export interface CrdSource {
  readonly module: string;
  readonly version: string;
  readonly paths: readonly string[];
}

export const GATEWAY_CRDS: CrdSource = {
  module: 'github.com/envoyproxy/gateway',
  version: GATEWAY_VERSION,
  paths: [
    'charts/gateway-crds-helm/templates/standard-gatewayapi-crds.yaml',
    'charts/gateway-crds-helm/templates/generated',
  ],
};

export const ISTIO_CRDS: CrdSource = {
  module: 'istio.io/api',
  version: 'v1.32.0',
  paths: ['kubernetes/customresourcedefinitions.gen.yaml'],
};

/** Istio's control plane as its main branch was then: releases are no versions of the Go module. */
export const PILOT: GoTool = {
  name: 'pilot-discovery',
  source: {
    kind: 'package',
    path: 'istio.io/istio/pilot/cmd/pilot-discovery',
    version: 'v0.0.0-20260827124520-eed52ebb66ad',
  },
  // as Istio builds it
  tags: ['vtprotobuf', 'disable_pgv'],
};

export const KUSTOMIZE: GoTool = {
  name: 'kustomize',
  source: { kind: 'package', path: 'sigs.k8s.io/kustomize/kustomize/v5', version: 'v5.7.1' },
};
