import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeBootstrap } from '../../src/commands/bootstrap.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { findEnvoy } from '../../src/demo/envoy-binary.ts';
import { BUILT_MAIN } from '../support/built-main.ts';
import { freePort } from '../support/ports.ts';
import { waitFor } from '../support/wait-for.ts';

/** The section "Plain Envoys on VMs" of deploy/README.md, as it stands there but for addresses. */

const README = fileURLToPath(new URL('../../deploy/README.md', import.meta.url));
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the installation on VMs, as deploy/README.md tells it', () => {
  let folder = '';
  const planes: ControlPlane[] = [];
  let envoy: Envoy | undefined;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-vm-'));
  });
  after(async () => {
    await envoy?.stop();
    await Promise.all(planes.map((plane) => plane.kill()));
    rmSync(folder, { recursive: true, force: true });
  });

  const [, section = ''] = readFileSync(README, 'utf8').split('\n## Plain Envoys on VMs\n');
  const blocks = (language: string): readonly string[] =>
    Array.from(
      section.split('\n## ')[0]?.matchAll(/^ {3}```(\w+)\n(.*?)^ {3}```$/gms) ?? [],
      ([, of, block = '']) => (of === language ? block.replaceAll(/^ {3}/gm, '') : ''),
    ).filter((block) => block !== '');

  const [yaml = ''] = blocks('yaml');
  const units = blocks('ini');

  test('the units stop Plimsoll after its drain period', () => {
    const read = parseConfiguration(yaml, 'plimsoll.yaml');
    assert.ok(read.kind === 'valid');
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(units[0] ?? '')?.[1]);
    assert.ok(seconds > read.configuration.xds.drainSeconds + 10, `${seconds} s`);
  });

  // a system without systemd has nothing that could read them
  test('systemd takes the units', { skip: !hasSystemd }, () => {
    assert.equal(units.length, 2);
    const files = units.map((unit, index) => {
      const file = join(folder, `unit-${index}.service`);
      const local = unit
        .replace('/usr/local/bin/plimsoll', BUILT_MAIN)
        .replace('/usr/local/bin/envoy', findEnvoy());
      assert.notEqual(local, unit);
      writeFileSync(file, local);
      return file;
    });
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
      encoding: 'utf8',
    });
    assert.equal(stderr, '');
    assert.equal(status, 0);
  });

  test('a sidecar knows two replicas, and is with the other one when its own has gone', async () => {
    const file = join(folder, 'plimsoll.yaml');
    const text = yaml
      .replace('0.0.0.0:18000', '127.0.0.1:0')
      .replaceAll('10.0.3.', '127.0.97.')
      .replace('Port: 10000', `Port: ${await freePort()}`);
    writeFileSync(file, `${text}Admin: {Listen: 127.0.0.1:0}\n`);
    const replica = { config: file, program: BUILT_MAIN };
    planes.push(await ControlPlane.start(replica), await ControlPlane.start(replica));
    const read = parseConfiguration(text, file);
    assert.ok(read.kind === 'valid');
    const made = makeBootstrap(read.configuration, {
      mode: 'ads',
      xds: planes.map(({ xds }) => xds),
      adminPort: 0,
      json: false,
    });
    assert.ok(made.kind === 'ok');
    envoy = await Envoy.start({ bootstrap: made.value });
    const sidecar = envoy;
    const hosts = async (): Promise<readonly string[]> =>
      (await sidecar.clusters()).filter(({ cluster }) => cluster === 'llama').map(({ address }) => address);
    assert.deepEqual((await hosts()).toSorted(), ['127.0.97.11:8000', '127.0.97.12:8000']);
    const own = await waitFor('its replica', () => firstThat(planes, serves));
    const other = planes.find((plane) => plane !== own) ?? assert.fail();
    assert.equal(await serves(other), false);
    await own.kill();
    await waitFor('the other replica', () => serves(other));
    assert.equal((await hosts()).length, 2);
  });
});

async function firstThat(
  planes: readonly ControlPlane[],
  does: (plane: ControlPlane) => Promise<boolean>,
): Promise<ControlPlane | undefined> {
  for (const plane of planes) if (await does(plane)) return plane;
  return undefined;
}

/** Whether a sidecar is with it. */
async function serves(plane: ControlPlane): Promise<boolean> {
  return /^plimsoll_xds_streams(\{[^}]*\})? [1-9]/m.test(await plane.metrics());
}
