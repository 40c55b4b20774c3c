import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ApiConnection } from '../../../../src/discovery/kubernetes/api-connection.ts';
import { ExecCredential } from '../../../../src/discovery/kubernetes/exec-credential.ts';
import { inClusterAccess } from '../../../../src/discovery/kubernetes/in-cluster.ts';
import { kubeconfigAccess, kubectlFiles } from '../../../../src/discovery/kubernetes/kubeconfig.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { TestCa } from '../../../support/pki.ts';

setFlagsFromString('--expose-gc');
const PLUGIN_MODULE = new URL('../../../../src/discovery/kubernetes/exec-credential.ts', import.meta.url)
  .href;
const collectGarbage = runInNewContext('gc') as () => void;

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-access-'));
});
after(() => {
  rmSync(folder, { recursive: true });
});

const { signal } = new AbortController();
let files = 0;

/** Writes a file. @returns its path */
function write(content: string, mode = 0o600): string {
  const path = join(folder, `file-${files++}`);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

interface Wanted {
  readonly user?: object;
  readonly cluster?: object;
  readonly rest?: object;
}

function kubeconfig({ user = {}, cluster = {}, rest = {} }: Wanted): string {
  return write(
    JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'b', user: 'c' } }],
      clusters: [{ name: 'b', cluster: { server: 'https://kube.example:6443/under', ...cluster } }],
      users: [{ name: 'c', user }],
      ...rest,
    }),
  );
}

const access = (wanted: Wanted) => kubeconfigAccess([kubeconfig(wanted)])(false, signal);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a kubeconfig file', () => {
  test('a token, an authority, a name for TLS', async () => {
    const cluster = { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'kube' };
    const { url, ...rest } = await access({ user: { token: 'secret' }, cluster });
    assert.equal(url.href, 'https://kube.example:6443/under');
    assert.deepEqual(rest, {
      ca: 'CA',
      cert: undefined,
      key: undefined,
      serverName: 'kube',
      insecure: false,
      token: 'secret',
    });
  });

  test('files are relative to it, and read anew each time', async () => {
    for (const [name, text] of [
      ['ca', 'CA'],
      ['cert', 'CERT'],
      ['key', 'KEY'],
      ['token', 'one\n'],
    ] as const) {
      writeFileSync(join(folder, name), text);
    }
    const user = {
      tokenFile: 'token',
      token: 'other',
      'client-certificate': './cert',
      'client-key': join(folder, 'key'),
    };
    const source = kubeconfigAccess([kubeconfig({ user, cluster: { 'certificate-authority': 'ca' } })]);
    const first = await source(false, signal);
    assert.deepEqual([first.ca, first.cert, first.key, first.token], ['CA', 'CERT', 'KEY', 'one']);
    writeFileSync(join(folder, 'token'), 'two');
    assert.equal((await source(false, signal)).token, 'two');
  });

  test('YAML, and several files: of one name the first counts', async () => {
    const first = write(
      'contexts: [{name: a, context: {cluster: b, user: c}}]\nusers: [{name: c, user: {token: first}}]',
    );
    const second = kubeconfig({ user: { token: 'second' } });
    assert.equal((await kubeconfigAccess([first, second])(false, signal)).token, 'first');
  });

  test('of several files those that are not there are passed over, unless none is', async () => {
    const there = kubeconfig({ user: { token: 'secret' } });
    for (const paths of [
      [there, '/nowhere'],
      ['/nowhere', there],
    ]) {
      assert.equal((await kubeconfigAccess(paths)(false, signal)).token, 'secret');
    }
    await assert.rejects(
      kubeconfigAccess(['/nowhere'])(false, signal),
      /^Error: \/nowhere cannot be read: ENOENT/,
    );
    await assert.rejects(
      kubeconfigAccess(['/nowhere', '/neither'])(false, signal),
      /^Error: \/nowhere cannot be read: ENOENT.*; \/neither cannot be read: ENOENT/,
    );
    await assert.rejects(kubeconfigAccess([there, folder])(false, signal), /it is no regular file$/);
    await assert.rejects(kubeconfigAccess(['/nowhere', write('a: [')])(false, signal), /is no YAML/);
  });

  for (const empty of [null, '', []]) {
    test(`${JSON.stringify(empty)} is as nothing`, async () => {
      const names = [
        'auth-provider',
        'username',
        'password',
        'as',
        'as-uid',
        'as-groups',
        'exec',
        'tokenFile',
      ];
      const pems = ['client-certificate', 'client-certificate-data', 'client-key', 'client-key-data'];
      const user = {
        ...Object.fromEntries([...names, ...pems].map((name) => [name, empty])),
        token: 'secret',
      };
      const cluster = Object.fromEntries(
        ['proxy-url', 'tls-server-name', 'certificate-authority', 'certificate-authority-data'].map(
          (name) => [name, empty],
        ),
      );
      const { url, ...rest } = await access({ user, cluster });
      assert.equal(url.host, 'kube.example:6443');
      assert.deepEqual(rest, {
        ca: undefined,
        cert: undefined,
        key: undefined,
        serverName: undefined,
        insecure: false,
        token: 'secret',
      });
    });
  }

  test('where kubectl looks', () => {
    assert.deepEqual(kubectlFiles({ KUBECONFIG: '/a::/b', HOME: '/home/x' }), ['/a', '/b']);
    assert.deepEqual(kubectlFiles({ KUBECONFIG: '', HOME: '/home/x' }), ['/home/x/.kube/config']);
  });

  for (const [what, wanted, reason] of [
    ['no server', { cluster: { server: '' } }, /server "" is no URL of http or https/],
    ['another scheme', { cluster: { server: 'unix:///x' } }, /is no URL of http or https/],
    [
      'a proxy',
      { cluster: { 'proxy-url': 'http://x' } },
      /^Error: proxy-url of a kubeconfig is not supported/,
    ],
    ['a password', { user: { username: 'a', password: 'b' } }, /username of a kubeconfig is not supported/],
    ['an old plugin', { user: { 'auth-provider': {} } }, /auth-provider of a kubeconfig is not supported/],
    ['someone else', { user: { as: 'root' } }, /as of a kubeconfig is not supported/],
    ['a bad token', { user: { token: 'a\nb' } }, /the kubeconfig's token must hold a token of visible ASCII/],
    ['half a certificate', { user: { 'client-key-data': base64('x') } }, /it needs both/],
    [
      'a token in the clear',
      { user: { token: 'x' }, cluster: { server: 'http://kube' } },
      /a token goes over https alone/,
    ],
    [
      'no context',
      { rest: { 'current-context': 'z' } },
      /current-context is "z", and .* has no such context/,
    ],
    ['no current context', { rest: { 'current-context': '' } }, /has no current-context/],
    ['no cluster', { rest: { clusters: null } }, /has no cluster for it/],
    ['no user', { rest: { users: 'x' } }, /has no user for it/],
    [
      'a file that is not there',
      { user: { tokenFile: '/nowhere' } },
      /^Error: \/nowhere cannot be read: ENOENT/,
    ],
  ] as const) {
    test(`${what} is refused with a reason`, async () => {
      await assert.rejects(access(wanted), reason);
    });
  }

  test('what is no YAML, too deep, or too large', async () => {
    await assert.rejects(
      kubeconfigAccess([write('a: [')])(false, signal),
      /is no YAML: \w+ in line 1, column 5$/,
    );
    await assert.rejects(
      kubeconfigAccess([write('['.repeat(1_000_000))])(false, signal),
      /more than 100 levels/,
    );
    await assert.rejects(
      kubeconfigAccess([write(`# ${'x'.repeat(2 ** 20)}`)])(false, signal),
      /larger than 1048576 bytes/,
    );
    await assert.rejects(kubeconfigAccess([write('')])(false, signal), /has no current-context/);
  });
});

describe('what is secret is in no error:', () => {
  const broken = [
    'users: [{user: {token: "s3cr3t" "s3cr3t"}}]',
    'users: [{user: {token: *s3cr3t}}]',
    'token: !s3cr3t! x\ntoken: !s3cr3t! y',
    '"s3cr3t": 1\n"s3cr3t": 2',
    'token: %s3cr3t\n%s3cr3t x\n---',
    'a: |\n  s3cr3t\n s3cr3t\ns3cr3t',
  ];
  for (const [number, text] of broken.entries()) {
    test(`broken YAML, ${number + 1}`, async () => {
      await assert.rejects(kubeconfigAccess([write(text)])(false, signal), (error: Error) => {
        assert.doesNotMatch(error.message, /s3cr3t/);
        return true;
      });
    });
  }

  for (const server of ['http://me:s3cr3t@kube.example', 'ftp://me:s3cr3t@kube.example']) {
    test(`a server with a password, ${server.slice(0, 4)}`, async () => {
      await assert.rejects(access({ user: { token: 'x' }, cluster: { server } }), (error: Error) => {
        assert.match(error.message, /kube\.example/);
        assert.doesNotMatch(error.message, /s3cr3t/);
        return true;
      });
    });
  }
});

describe('a credential plugin', () => {
  const plugin = (script: string): string => write(`#!/bin/sh\n${script}\n`, 0o700);
  const credential = (status: object): string =>
    `echo '${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}'`;

  test('its token is kept until it expires, or is refused', async () => {
    const runs = join(folder, 'runs');
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    const command = plugin(
      `echo "$1 $WHO $KUBERNETES_EXEC_INFO" >> ${runs}\n${credential({ token: 'fresh', expirationTimestamp: inAnHour })}`,
    );
    const exec = { command, args: ['get'], env: [{ name: 'WHO', value: 'me' }] };
    const source = kubeconfigAccess([kubeconfig({ user: { exec } })]);
    assert.equal((await source(false, signal)).token, 'fresh');
    await source(false, signal);
    const [line, ...more] = readFileSync(runs, 'utf8').trimEnd().split('\n');
    assert.match(
      line!,
      /^get me \{"apiVersion":"client\.authentication\.k8s\.io\/v1","kind":"ExecCredential"/,
    );
    assert.deepEqual(more, []);
    await source(true, signal);
    assert.equal(readFileSync(runs, 'utf8').trimEnd().split('\n').length, 2);
  });

  test('a certificate; without a time of expiry it runs each time; a command beside the file', async () => {
    const runs = join(folder, 'more-runs');
    const path = plugin(
      `echo >> ${runs}\n${credential({ token: '', clientCertificateData: 'CERT', clientKeyData: 'KEY' })}`,
    );
    const source = kubeconfigAccess([
      kubeconfig({ user: { exec: { command: `./${path.split('/').at(-1) ?? ''}` } } }),
    ]);
    await source(false, signal);
    const { cert, key, token } = await source(false, signal);
    assert.deepEqual([cert, key, token], ['CERT', 'KEY', undefined]);
    assert.equal(readFileSync(runs, 'utf8').length, 2);
  });

  test('one that hangs is ended, however often garbage is collected meanwhile', async () => {
    const exec = { command: plugin('exec sleep 60') };
    const got = new ExecCredential(200).get(exec, folder, signal);
    collectGarbage();
    await assert.rejects(got, /the credential plugin .*: it did not end within 0\.2 s$/);
  });

  test('whatever comes of it, nothing listens to the end of the process any more', async () => {
    const { signal: end } = new AbortController();
    for (const command of [plugin(credential({ token: 'fresh' })), plugin('exit 3'), '/nowhere/plugin', '']) {
      await new ExecCredential().get({ command }, folder, end).catch(() => undefined);
      assert.equal(getEventListeners(end, 'abort').length, 0, command);
    }
  });

  test('one that runs when the process ends is given up, and none is begun later', async () => {
    const stop = new AbortController();
    const exec = { command: plugin('exec sleep 60') };
    const got = new ExecCredential().get(exec, folder, stop.signal);
    stop.abort();
    await assert.rejects(got, /the credential plugin .*: stopped$/);
    const runs = join(folder, 'late-runs');
    const late = { command: plugin(`echo >> ${runs}`) };
    await assert.rejects(new ExecCredential().get(late, folder, stop.signal), /stopped$/);
    assert.equal(existsSync(runs), false);
  });

  test('with too few files left to open it fails, opens none for good, and the process lives on', () => {
    const script = `
      const [{ ExecCredential }, { closeSync, openSync }] = await Promise.all([import('${PLUGIN_MODULE}'), import('node:fs')]);
      const { signal } = new AbortController();
      const get = () => new ExecCredential().get({ command: process.argv[1] }, '/', signal);
      const open = [];
      const fill = () => { try { for (;;) open.push(openSync('/dev/null')); } catch {} };
      await get();
      fill();
      const files = open.length;
      const told = new Set();
      for (let left = 0; left < 16; left++) {
        for (const file of open.splice(files - left)) closeSync(file);
        told.add(await get().then(() => 'well', ({ message }) => message.replace(/^.*: (?=EMFILE)/, '')));
        fill();
      }
      console.log(JSON.stringify([...told, files - open.length]));
    `;
    const shell = `ulimit -n 128 && exec "$0" --import tsx --input-type=module -e "$1" "$2"`;
    const command = plugin(credential({ token: 'fresh' }));
    const told = execFileSync('sh', ['-c', shell, process.execPath, script, command], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(told), ["EMFILE: too many open files, open '/dev/null'", 'well', 0]);
  });

  for (const [what, command, reason] of [
    [
      'fails',
      () => plugin('echo "no login" >&2; exit 3'),
      /the credential plugin .*: it ended with 3: no login$/,
    ],
    [
      'gives no JSON',
      () => plugin('echo s3cr3t'),
      /^Error: the credential plugin \S+: what it wrote is no JSON$/,
    ],
    ['gives nothing', () => plugin(credential({})), /it gave no credential/],
    [
      'gives empty texts',
      () => plugin(credential({ token: '', clientCertificateData: '' })),
      /it gave no credential/,
    ],
    ['gives a bad token', () => plugin(credential({ token: 'a b' })), /status\.token must hold a token/],
    ['is not there', () => '/nowhere/plugin', /ENOENT/],
    ['has no name', () => '', /the credential plugin /],
    ['says too much', () => plugin('yes'), /it wrote more than 1048576 characters/],
  ] as const) {
    test(`one that ${what}`, async () => {
      await assert.rejects(access({ user: { exec: { command: command() } } }), reason);
    });
  }
});

test('in a pod: its service account, read anew each time', async () => {
  const account = join(folder, 'account');
  mkdirSync(account);
  writeFileSync(join(account, 'token'), 'one');
  writeFileSync(join(account, 'ca.crt'), 'CA');
  assert.equal(inClusterAccess({}, account), undefined);
  assert.equal(inClusterAccess({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, account), undefined);
  const source = inClusterAccess(
    { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' },
    account,
  );
  const { url, ca, token, insecure } = await source!(false, signal);
  assert.deepEqual([url.href, ca, token, insecure], ['https://[fd00::1]:6443/', 'CA', 'one', false]);
  writeFileSync(join(account, 'token'), 'two');
  assert.equal((await source!(false, signal)).token, 'two');
});

describe('TLS', () => {
  const resource = { group: '', version: 'v1', plural: 'pods', namespace: 'prod' };
  const plain = { cert: undefined, key: undefined, serverName: undefined, insecure: false, token: 'secret' };

  test('the authority, the name and the client certificate count', async () => {
    const ca = await TestCa.create();
    const server = createServer(
      { ...(await ca.issue({ dns: ['kube'] })), ca: ca.cert, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        const client = (request.socket as unknown as { authorized: boolean }).authorized;
        response.end(JSON.stringify({ client, token: request.headers.authorization }));
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const end = new AbortController();
    const ask = async (more: object): Promise<unknown> => {
      const connection = new ApiConnection({ ...plain, url, ca: ca.cert, ...more }, systemClock, end.signal);
      const answer = await connection.list(resource, {});
      connection.close();
      return answer.kind === 'answer' ? answer.body : answer.failure.reason;
    };
    try {
      assert.deepEqual(await ask({ serverName: 'kube' }), { client: false, token: 'Bearer secret' });
      assert.deepEqual(await ask({ serverName: 'kube', ...(await ca.issue()) }), {
        client: true,
        token: 'Bearer secret',
      });
      assert.match(
        String(await ask({})),
        /^cannot list pods in namespace prod: 127\.0\.0\.1:\d+: .*IP: 127\.0\.0\.1/,
      );
      assert.match(String(await ask({ serverName: 'kube', ca: undefined })), /certificate/);
      assert.match(String(await ask({ serverName: 'kube', ca: 'nonsense' })), /^cannot list pods/);
      assert.deepEqual(await ask({ ca: undefined, insecure: true }), {
        client: false,
        token: 'Bearer secret',
      });
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('nobody is there', async () => {
    const url = new URL('https://127.0.0.1:1');
    const connection = new ApiConnection(
      { ...plain, url, ca: undefined },
      systemClock,
      new AbortController().signal,
    );
    const answer = await connection.list(resource, {});
    assert.equal(answer.kind, 'failure');
    assert.equal(
      answer.failure.reason,
      'cannot list pods in namespace prod: 127.0.0.1:1: refuses connections',
    );
  });
});
