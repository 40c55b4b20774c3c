import type { CrdSource } from '../mesh/tools.ts';

/** What the tests of this folder read, from the Go module proxy. */

export const CERT_MANAGER_CRDS: CrdSource = {
  module: 'github.com/cert-manager/cert-manager',
  version: 'v1.21.2',
  paths: ['deploy/crds'],
};

export const PROMETHEUS_OPERATOR_CRDS: CrdSource = {
  module: 'github.com/prometheus-operator/prometheus-operator',
  version: 'v0.85.0',
  paths: ['servicemonitors', 'prometheusrules'].map(
    (plural) => `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`,
  ),
};
