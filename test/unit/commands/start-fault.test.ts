import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { startFault } from '../../../src/commands/start-fault.ts';
import { PlimsollError } from '../../../src/runtime/errors.ts';
import { adminServer } from '../../support/admin-server.ts';
import { adminSettings } from '../../support/configuration.ts';

test('a port that another process has is told with what to do', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  try {
    const error: unknown = await adminServer({ settings: adminSettings(port) })
      .listen()
      .catch((reason: unknown) => reason);
    assert.ok(error instanceof PlimsollError);
    assert.match(
      startFault(error),
      /^Admin\.Listen: cannot listen on 127\.0\.0\.1 .*EADDRINUSE.*; another process has it, which "ss -ltnp" names: stop that one, or change Admin\.Listen$/,
    );
  } finally {
    taken.close();
  }
});

/** Of a network for documentation, that no machine is in (RFC 5737). */
const NOWHERE = '192.0.2.1';

test('an address that no interface has is told with the rule and with what is all of them', async () => {
  const settings = { ...adminSettings(0), listen: { host: NOWHERE, port: 9090 } };
  const error: unknown = await adminServer({ settings })
    .listen()
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof PlimsollError);
  assert.match(
    startFault(error),
    /^Admin\.Listen: cannot listen on 192\.0\.2\.1 port 9090: .*EADDRNOTAVAIL.*; Admin\.Listen must be an address of this machine, and none of its interfaces has that one \("ip address" lists them\): 0\.0\.0\.0 and \[::\] are all of them$/,
  );
});

test('each setting has its own name there', () => {
  for (const code of ['EADDRINUSE', 'EADDRNOTAVAIL']) {
    const cause = Object.assign(new Error(code), { code });
    const fault = startFault(new PlimsollError('io', `Xds.Listen: cannot listen: ${code}`, { cause }));
    assert.equal(fault.match(/Xds\.Listen/g)?.length, 2, fault);
  }
});

test('any other reason is told as it is', () => {
  assert.equal(startFault(new PlimsollError('io', 'Xds.Tls: a reason')), 'Xds.Tls: a reason');
});
