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

test('any other reason is told as it is', () => {
  assert.equal(startFault(new PlimsollError('io', 'Xds.Tls: a reason')), 'Xds.Tls: a reason');
});
