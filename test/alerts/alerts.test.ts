import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RULES = 'deploy/prometheus/plimsoll.rules.yaml';

describe('what stands in deploy for Prometheus', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-alerts-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  test('its rules are good', () => {
    assert.match(promtool('check', 'rules', RULES), /SUCCESS: \d+ rules found/);
  });

  test('each alert fires for its cause, and not before its time', () => {
    assert.match(promtool('test', 'rules', 'test/alerts/plimsoll.test.yaml'), /SUCCESS/);
  });

  test('there is a test that each alert is silent, and one that it fires', () => {
    const alerts = [...read(RULES).matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    assert.ok(alerts.length > 10);
    const { tests } = parse(read('test/alerts/plimsoll.test.yaml')) as {
      readonly tests: readonly AlertTests[];
    };
    const cases = tests.flatMap((one) => one.alert_rule_test);
    for (const name of alerts) {
      const own = cases.filter(({ alertname }) => alertname === name);
      assert.ok(
        own.some(({ exp_alerts }) => exp_alerts === undefined),
        `${name} silent`,
      );
      assert.ok(
        own.some(({ exp_alerts }) => exp_alerts !== undefined),
        `${name} firing`,
      );
    }
  });

  test('the queries of the dashboard and of the scaler are good', () => {
    const dashboard = [...read('deploy/grafana/plimsoll.json').matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(
      ([, json = '']) => JSON.parse(json) as string,
    );
    assert.ok(dashboard.length > 20);
    const { spec } = parse(read('deploy/keda/scaled-object.yaml')) as ScaledObject;
    const queries = [...dashboard, ...spec.triggers.map(({ metadata }) => metadata.query)];
    const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
    const file = join(folder, 'queries.yaml');
    // JSON is YAML
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules }] }));
    assert.match(promtool('check', 'rules', file), new RegExp(`SUCCESS: ${queries.length} rules found`));
  });
});

interface AlertTests {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: unknown }[];
}

interface ScaledObject {
  readonly spec: { readonly triggers: readonly { readonly metadata: { readonly query: string } }[] };
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** @returns what it prints. */
function promtool(...args: readonly string[]): string {
  const { status, error, stdout, stderr } = spawnSync('promtool', args, { cwd: ROOT, encoding: 'utf8' });
  assert.equal(error, undefined, "promtool is needed: Debian's package prometheus has it");
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}
