import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { makeBootstrap } from '../../../src/commands/bootstrap.ts';
import { parseConfiguration } from '../../../src/config/load.ts';
import type { Configuration } from '../../../src/core/model/configuration.ts';
import { assertFile } from '../../support/golden.ts';
import { KUBERNETES } from '../../support/kubernetes-files.ts';

/** Files of deploy/kubernetes that come from others. */

const RULES = new URL('../prometheus/plimsoll.rules.yaml', KUBERNETES);
const read = (name: string): string => readFileSync(new URL(name, KUBERNETES), 'utf8');

function configurationOf(file: string): Configuration {
  const result = parseConfiguration(read(file), file);
  return result.kind === 'valid' ? result.configuration : assert.fail(`${file} is not valid`);
}

test('sidecars have what plimsoll bootstrap prints, and certificates that rotate where there are some', () => {
  const plain = bootstrapOf(configurationOf('base/plimsoll.yaml'), {});
  // all addresses of the headless Service
  assert.match(plain, /^ {6}type: STRICT_DNS$/m);
  assertFile(new URL('fleet/envoy.yaml', KUBERNETES), plain);
  const folder = 'overlays/cert-manager-mtls';
  const [ca, cert, key] = ['ca.crt', 'tls.crt', 'tls.key'].map((name) => `/etc/envoy-tls/${name}`);
  const secured = bootstrapOf(configurationOf(`${folder}/plimsoll.yaml`), { ca, cert, key });
  const rotating = secured.replace(
    / {12}tls_certificates:\n(?: {14,}.*\n)+/,
    `            # in place of tls_certificates, which Envoy reads once: certificates that cert-manager renews
            tls_certificate_sds_secret_configs:
              - name: sidecar
                sds_config:
                  path_config_source:
                    path: /etc/envoy/sds.yaml
`,
  );
  assert.notEqual(rotating, secured);
  assertFile(new URL(`${folder}/envoy.yaml`, KUBERNETES), rotating);
  for (const path of [cert, key]) assert.ok(read(`${folder}/sds.yaml`).includes(`filename: ${path}\n`));
});

test('the PrometheusRule has the rules of deploy/prometheus', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    readonly groups: unknown;
  };
  const text = stringify(
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: {
        name: 'plimsoll',
        namespace: 'plimsoll',
        labels: { 'app.kubernetes.io/name': 'plimsoll' },
      },
      spec: { groups },
    },
    { lineWidth: 0 },
  );
  const heading = '# The rules of ../../../prometheus/plimsoll.rules.yaml, which tells more about them.\n';
  assertFile(new URL('components/service-monitor/prometheus-rule.yaml', KUBERNETES), heading + text);
});

function bootstrapOf(
  configuration: Configuration,
  files: {
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  },
): string {
  const { ca, cert, key } = files;
  const made = makeBootstrap(configuration, {
    mode: 'ads',
    xds: ['plimsoll-xds.plimsoll.svc.cluster.local:18000'],
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    json: false,
  });
  return made.kind === 'ok' ? made.value : assert.fail(made.reason);
}
