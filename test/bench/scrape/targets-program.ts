/**
 * The backends of `npm run bench:scrape`: `node targets-program.js COUNT`. Each request is answered with bytes that are
 * there already, one write each: all of the page, or what passes the filter of the request. Commands on the
 * standard input, each answered by one line:
 *
 *     served      requests and bytes of answers so far
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { IDLE, vllmPage } from '../../support/vllm-page.ts';
import { addressOf } from './targets.ts';

const SPACE = ' ';
/** Another program may have the port on one of the addresses. */
const ATTEMPTS = 5;

const page = vllmPage([{ ...IDLE, waiting: 3, running: 17, kvUsage: 0.4375, finished: 52_817 }]);
/** By the path of the request. */
const answers = new Map<string, Buffer>();
let requests = 0;
let bytes = 0;

console.log(`port ${await listen(Number(process.argv[2]))}`);
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'served') throw new Error(`unknown command ${line}`);
  console.log(`served ${requests} ${bytes}`);
}
process.exit();

async function listen(count: number): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const servers: Server[] = [];
    try {
      const port = await listenAt(servers, addressOf(0), 0);
      for (let target = 1; target < count; target++) await listenAt(servers, addressOf(target), port);
      return port;
    } catch (error) {
      for (const server of servers) server.close();
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

async function listenAt(servers: Server[], host: string, port: number): Promise<number> {
  const server = createServer({ noDelay: true }, serve);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host, port, backlog: 16 }, resolve);
  });
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

/** A request is small and comes in one piece. */
function serve(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.on('data', (request) => {
    const path = request.toString('latin1', request.indexOf(SPACE) + 1, request.indexOf(' HTTP/'));
    const answer = answers.get(path) ?? prepare(path);
    requests++;
    bytes += answer.length;
    socket.write(answer);
  });
}

function prepare(path: string): Buffer {
  const names = new URL(path, 'http://target').searchParams.getAll('name[]');
  const answer = answerWith(names.length === 0 ? page : leanPage(names));
  answers.set(path, answer);
  return answer;
}

function answerWith(body: string): Buffer {
  const head = [
    'HTTP/1.1 200 OK',
    'server: uvicorn',
    `content-length: ${Buffer.byteLength(body)}`,
    'content-type: text/plain; version=0.0.4; charset=utf-8',
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** As the Python exporter makes it: the samples of these names, each family with its comments. */
function leanPage(names: readonly string[]): string {
  const families = new Set(names.map((name) => name.replace(/_(?:sum|count)$/, '')));
  const isWanted = (line: string): boolean => {
    const [, comment] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? [];
    return comment === undefined ? names.includes(line.split(/[{ ]/, 1)[0] ?? '') : families.has(comment);
  };
  const lines = page.split('\n').filter((line) => isWanted(line));
  return `${lines.join('\n')}\n`;
}
