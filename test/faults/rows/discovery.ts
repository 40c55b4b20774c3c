import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { DnsServer } from '../../support/dns-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { FOLLOWING, HELD } from '../looks.ts';
import type { Failure, Fault, Look, PlaneHandle, Row, Stage, Times } from '../model.ts';
import { metric } from '../observer.ts';
import { JOINED } from './one-backend.ts';

const NAME = '_http._tcp.llama.test';
/** How long a list that lacks everybody has to stand before it is believed. */
const DOUBT_SECONDS = 60;
const DOUBTED = {
  what: 'the empty list is doubted, by metric',
  withinSeconds: 5,
  when: ({ plane }: Look): boolean =>
    discovery(plane?.page ?? '', 'doubted_backends') === plane?.backends.length,
};

/** Backends are found by SRV records, with a TTL of 1 s. */
export const DNS: readonly Row[] = [
  {
    part: 'metrics-network',
    name: 'DNS gone',
    happens: 'the DNS server that tells the backends says nothing for 20 s',
    faultsOwn: 'none',
    fault: (stage) => inDns(stage, { kind: 'drop' }),
    holdSeconds: 20,
    notice: {
      what: 'by metric the source cannot be read',
      // a second of TTL, and two tries of one question
      withinSeconds: 8,
      when: ({ plane }) => discovery(plane?.page ?? '', 'failing') === 1,
    },
    throughout: HELD,
    recover: {
      withinSeconds: 13,
      because: 'it is asked again after 1, 2, 4 and 8 s, and each time takes 3 s to fail',
      when: (look) => discovery(look.plane?.page ?? '', 'failing') === 0 && FOLLOWING.holds(look),
    },
    needsLab: true,
  },
  {
    part: 'metrics-network',
    name: 'DNS with nothing',
    happens: 'DNS says for 15 s that the name of the backends does not exist',
    faultsOwn: 'none',
    fault: (stage) => inDns(stage, { kind: 'code', code: 'NXDOMAIN' }),
    holdSeconds: 15,
    notice: DOUBTED,
    throughout: HELD,
    recover: {
      withinSeconds: 7,
      because: 'a name that has nothing is asked for again after 5 s',
      when: isBelieved,
    },
    needsLab: true,
  },
];

/** Backends stand in a file that something else writes. */
export const LIST_FILE: readonly Row[] = [
  {
    part: 'operator',
    name: 'list emptied',
    happens: 'the file that lists the backends is emptied to [] for 15 s',
    faultsOwn: 'none',
    fault: inFile,
    holdSeconds: 15,
    notice: DOUBTED,
    throughout: HELD,
    recover: { withinSeconds: 3, when: isBelieved },
    needsLab: true,
  },
  {
    part: 'operator',
    name: 'all servers removed',
    happens: `the file that lists the backends is [] until that is believed after ${DOUBT_SECONDS} s; all are added back some seconds later`,
    faultsOwn: 'what is sent while there are no backends, refused',
    isFaultsOwn: isWithoutBackends,
    fault: inFile,
    holdSeconds: DOUBT_SECONDS + 5,
    notice: {
      what: 'sidecars have no backend that is healthy',
      withinSeconds: DOUBT_SECONDS + 5,
      when: ({ sidecars }) => sidecars.every((held) => held.every(({ health }) => health !== 'HEALTHY')),
    },
    recover: { ...JOINED, withinSeconds: 4, because: 'who comes back within a minute has what it had' },
    extraPushes: 2,
    needsLab: true,
  },
];

function isBelieved(look: Look): boolean {
  return discovery(look.plane?.page ?? '', 'doubted_backends') === 0 && FOLLOWING.holds(look);
}

/** A look and a push around the time when they have none. */
function isWithoutBackends({ kind, sentAt }: Failure, { noticedAt, undoneAt }: Times): boolean {
  return (kind === 'shed' || kind === 'unavailable') && sentAt > noticedAt - 1.5 && sentAt < undoneAt + 3;
}

function inDns(stage: Stage, reply: NonNullable<DnsServer['always']>): Fault {
  const { plane } = stage;
  let server: DnsServer | undefined;
  return {
    targets: [],
    arrange: async () => {
      server = await DnsServer.start();
      const services = stage.backends.map(({ id }, index) => {
        const { address, port } = placeOf(id);
        const target = `b${index}.llama.test`;
        server?.addresses(target, [address]);
        return { priority: 0, weight: 100, port, target };
      });
      server.services(NAME, services);
      await find(stage, `Dns: {Name: ${NAME}, Type: SRV, Resolvers: ["${server.address}"]}`);
    },
    apply: async () => {
      if (server !== undefined) server.always = reply;
    },
    undo: async () => {
      if (server !== undefined) server.always = undefined;
    },
    restore: async () => {
      await leave(plane);
      await server?.stop();
    },
  };
}

function inFile(stage: Stage): Fault {
  const { plane, backends } = stage;
  const file = join(dirname(plane.file), 'backends.json');
  const list = backends.map(({ id }) => {
    const { address, port } = placeOf(id);
    return { Address: address, Port: port, Weight: 100 };
  });
  return {
    targets: [],
    arrange: async () => {
      await writeFile(file, JSON.stringify(list));
      await find(stage, `File: {Path: ${file}}`);
    },
    apply: () => writeFile(file, '[]'),
    undo: () => writeFile(file, JSON.stringify(list)),
    restore: () => leave(plane),
  };
}

/** From now on backends are found so, all of them. */
async function find({ plane, backends }: Stage, source: string): Promise<void> {
  await plane.configure({ discovery: source });
  await waitFor(
    'the first list of backends',
    async () => discovery(await pageOf(plane), 'listed_backends') === backends.length,
  );
}

/** Back to servers of the configuration. */
async function leave(plane: PlaneHandle): Promise<void> {
  await plane.configure({});
  await waitFor('the servers of the configuration', async () =>
    Number.isNaN(discovery(await pageOf(plane), 'listed_backends')),
  );
}

function discovery(page: string, name: string): number {
  return metric(page, `plimsoll_discovery_${name}`);
}

async function pageOf({ admin }: PlaneHandle): Promise<string> {
  const { body } = await request(`http://${admin}/metrics`);
  return body.text();
}

function placeOf(id: string): { readonly address: string; readonly port: number } {
  const colon = id.lastIndexOf(':');
  return { address: id.slice(0, colon), port: Number(id.slice(colon + 1)) };
}
