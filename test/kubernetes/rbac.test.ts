import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { KubernetesTarget } from '../../src/core/model/discovery.ts';
import { inClusterAccess } from '../../src/discovery/kubernetes/in-cluster.ts';
import { PodSource } from '../../src/discovery/kubernetes/pod-source.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Cleanups } from '../support/cleanups.ts';
import { CuttableWire } from '../support/cuttable-wire.ts';
import { KubeClient } from '../support/kube-client.ts';
import { KubeCluster } from '../support/kube-cluster.ts';
import { pod, podStatus, pool, service, slice } from '../support/kube-objects.ts';
import { deployedRole, type RoleRule } from '../support/kube-roles.ts';
import { waitFor } from '../support/wait-for.ts';

const ACCOUNT = { namespace: 'default', name: 'plimsoll' };
const USER = 'system:serviceaccount:default:plimsoll';

interface Case {
  readonly role: string;
  readonly target: KubernetesTarget;
  readonly backends: readonly string[];
}

const CASES: readonly Case[] = [
  {
    role: 'plimsoll-service',
    target: { kind: 'Service', service: 'llama', portName: undefined },
    backends: ['10.0.0.1:8000'],
  },
  {
    role: 'plimsoll-pods',
    target: { kind: 'Pods', selector: 'app=llama', port: 8000 },
    backends: ['10.0.0.1:8000'],
  },
  {
    role: 'plimsoll-inference-pool',
    target: { kind: 'InferencePool', name: 'llama' },
    backends: ['10.0.0.1:8000', '10.0.0.1:8001'],
  },
];

/** What is watched of each kind that a Role may name. */
const WATCHED = { Service: 'services', Pods: 'pods', InferencePool: 'inferencepools' } as const;

describe('rights, with a service account of a real API server', { timeout: 280_000 }, () => {
  let cluster: KubeCluster;
  const cleanups = new Cleanups();
  let token: string;
  before(async () => {
    cluster = await cleanups.own(KubeCluster.start(), (started) => started.stop());
    const { admin } = cluster.api;
    token = await cluster.api.serviceAccount(ACCOUNT.namespace, ACCOUNT.name);
    await cluster.installPools();
    await admin.call('POST', cluster.core('services'), service('llama'));
    const endpoints = [{ address: '10.0.0.1' }];
    await admin.call('POST', cluster.slices(), slice({ name: 'llama-1', service: 'llama', endpoints }));
    await admin.call('POST', cluster.pools(), pool('llama', 'llama', [8000, 8001]));
    await cluster.runPod(pod({ name: 'llama-1', labels: { app: 'llama' } }), podStatus('10.0.0.1'));
  });
  after(() => cleanups.run());
  afterEach(async () => {
    await cluster.endRuns();
  });

  for (const { role, target, backends } of CASES) {
    test(`${target.kind}: denied, it says what to grant; granted, it goes on`, async () => {
      const run = await cluster.discover(target, await cluster.kubeconfig({ token }));
      const reason = await run.failure(/403/);
      const rules = deployedRole(role);
      const rule = rules.find(({ resources }) => reason.includes(`may not list ${resources[0] ?? ''}`));
      assert.ok(rule, reason);
      assert.ok(reason.endsWith(`verbs [list, watch] to ${USER}`), reason);
      assert.ok(
        reason.includes(`apiGroups ["${rule.apiGroups[0] ?? ''}"], resources [${rule.resources[0] ?? ''}]`),
      );
      assert.equal(run.lists.length, 0);
      await cluster.grant(role, rules, ACCOUNT);
      await run.until(backends, 40_000);
      assert.equal(run.last, 'list');
      await cluster.withdraw(role);
    });

    test(`${target.kind}: each right of ${role} is needed`, async () => {
      await cluster.grant(role, deployedRole(role), ACCOUNT);
      for (const { rules, verb, resource } of withoutOne(deployedRole(role))) {
        await cluster.changeGrant(role, rules);
        const run = await cluster.discover(target, await cluster.kubeconfig({ token }));
        await run.failure(new RegExp(`may not ${verb} ${resource}\\b.*403`));
        await run.stop();
      }
      await cluster.withdraw(role);
    });
  }

  test('a Role may name the one Service, and the one pool', async () => {
    for (const { role, target, backends } of CASES) {
      const rules = deployedRole(role).map((rule) =>
        ['services', 'inferencepools'].includes(rule.resources[0] ?? '')
          ? { ...rule, resourceNames: ['llama'] }
          : rule,
      );
      await cluster.grant(role, rules, ACCOUNT);
      const run = await cluster.discover(target, await cluster.kubeconfig({ token }));
      await run.until(backends);
      await cluster.watched(WATCHED[target.kind], 1);
      assert.deepEqual(run.failures, []);
      await run.stop();
      await cluster.withdraw(role);
    }
  });

  test('all Roles together show no secret, no single pod, no other namespace, and change nothing', async () => {
    for (const { role } of CASES) await cluster.grant(role, deployedRole(role), ACCOUNT);
    const client = new KubeClient(cluster.api.url, cluster.api.ca, token);
    try {
      const granted = await client.call('POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
        spec: { namespace: cluster.namespace },
      });
      const { resourceRules } = granted['status'] as { readonly resourceRules: readonly RoleRule[] };
      const own = resourceRules.filter(({ apiGroups }) => !/^authenti|^authori/.test(apiGroups.join()));
      const pairs = own.flatMap(({ resources, verbs }) => verbs.map((verb) => `${verb} ${resources.join()}`));
      const expected = ['endpointslices', 'services', 'pods', 'inferencepools'].flatMap((resource) => [
        `list ${resource}`,
        `watch ${resource}`,
      ]);
      assert.deepEqual([...new Set(pairs)].toSorted(), expected.toSorted());
      for (const [method, path] of [
        ['GET', cluster.core('secrets')],
        ['GET', cluster.core('configmaps')],
        ['GET', cluster.core('pods', 'llama-1')],
        ['DELETE', cluster.core('pods', 'llama-1')],
        ['GET', '/api/v1/namespaces/default/pods'],
        ['GET', '/api/v1/nodes'],
      ] as const) {
        assert.equal((await client.ask(method, path)).status, 403, `${method} ${path}`);
      }
      assert.equal((await client.ask('GET', cluster.core('pods'))).status, 200);
    } finally {
      await client.close();
      for (const { role } of CASES) await cluster.withdraw(role);
    }
  });

  test('a token file that changes is read again; until then the last list stands', async () => {
    const { api } = cluster;
    const file = join(cluster.folder, 'token');
    const oldToken = await api.newToken(ACCOUNT.namespace, ACCOUNT.name);
    const old = new KubeClient(api.url, api.ca, oldToken);
    await writeFile(file, oldToken);
    await cluster.grant('rotation', deployedRole('plimsoll-pods'), ACCOUNT);
    const wire = await CuttableWire.open(api.port);
    const server = `https://127.0.0.1:${wire.port}`;
    const kubeconfig = await cluster.kubeconfig({ tokenFile: 'token' }, server);
    const run = await cluster.discover({ kind: 'Pods', selector: 'app=llama', port: 8000 }, kubeconfig);
    try {
      await run.until(['10.0.0.1:8000']);
      await api.admin.call(
        'DELETE',
        `/api/v1/namespaces/${ACCOUNT.namespace}/serviceaccounts/${ACCOUNT.name}`,
      );
      token = await api.serviceAccount(ACCOUNT.namespace, ACCOUNT.name);
      // tokens that were good are taken for some time
      await waitFor(
        'the old token is refused',
        async () => (await old.ask('GET', '/version')).status === 401,
        60_000,
      );
      wire.cut();
      await run.failure(/does not accept the credentials \(401\)/);
      await run.until(['10.0.0.1:8000']);
      await cluster.runPod(pod({ name: 'llama-2', labels: { app: 'llama' } }), podStatus('10.0.0.2'));
      await writeFile(file, `${token}\n`);
      await run.until(['10.0.0.1:8000', '10.0.0.2:8000'], 40_000);
      assert.equal(run.last, 'list');
    } finally {
      await old.close();
      await run.stop();
      await wire.close();
      await cluster.withdraw('rotation');
    }
  });

  test('the service account of a pod', async () => {
    await cluster.grant('inside', deployedRole('plimsoll-pods'), ACCOUNT);
    const folder = join(cluster.folder, 'serviceaccount');
    await mkdir(folder);
    await writeFile(join(folder, 'token'), token);
    await writeFile(join(folder, 'ca.crt'), cluster.api.ca);
    const environment = {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(cluster.api.port),
    };
    const access = inClusterAccess(environment, folder);
    assert.ok(access);
    const settings = { namespace: cluster.namespace, access, clock: systemClock, random: () => 0.5 };
    const run = cluster.follow(new PodSource(settings, 'app=llama', 8000));
    await run.until(['10.0.0.1:8000', '10.0.0.2:8000']);
    await cluster.withdraw('inside');
  });
});

/** The rules without one verb of one resource, for each of them. */
function withoutOne(
  rules: readonly RoleRule[],
): readonly { readonly rules: readonly RoleRule[]; readonly verb: string; readonly resource: string }[] {
  return rules.flatMap((rule, index) =>
    rule.verbs.map((verb) => ({
      rules: rules.with(index, { ...rule, verbs: rule.verbs.filter((other) => other !== verb) }),
      verb,
      resource: rule.resources[0] ?? '',
    })),
  );
}
