/**
 * The backends of `npm run bench:sizing`: any number of addresses in one process, each answered with bytes that are there
 * already. Each second a backend shows another load, so that the shares move from one evaluation to the next.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { filterPage } from '../../../src/demo/page-filter.ts';
import { IDLE, vllmPage } from '../../support/vllm-page.ts';
import { answerParent } from '../routing/child.ts';
import { addressOf } from '../scrape/targets.ts';
import type { BackendsAnswer, BackendsQuestion } from './programs.ts';

/** Different loads that backends have at a time. */
const LOADS = 16;

/** Seconds so far: each backend has another load then. */
let second = 0;
/** Of this second, by load and the path of the request. */
const answers = new Map<string, Buffer>();
let requests = 0;
let bytes = 0;

setInterval(() => {
  second++;
  answers.clear();
}, 1000);

await answerParent(async (question: BackendsQuestion): Promise<BackendsAnswer> => {
  if (question.kind === 'look') return { port: 0, requests, bytes };
  const port = await listen(0, 0);
  for (let backend = 1; backend < question.count; backend++) await listen(backend, port);
  return { port, requests, bytes };
});

async function listen(backend: number, port: number): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => {
    serve(socket, backend);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host: addressOf(backend), port, backlog: 16 }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** A request is small and comes in one piece. */
function serve(socket: Socket, backend: number): void {
  socket.on('error', () => undefined);
  socket.on('data', (request) => {
    const path = request.toString('latin1', request.indexOf(' ') + 1, request.indexOf(' HTTP/'));
    const answer = answerOf((7 * second + backend) % LOADS, path);
    requests++;
    bytes += answer.length;
    socket.write(answer);
  });
}

function answerOf(load: number, path: string): Buffer {
  const key = `${load} ${path}`;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const finished = 50_000 + 2 * second;
  const page = vllmPage([
    {
      ...IDLE,
      waiting: load % 3,
      running: 10 + load,
      kvUsage: 0.2 + load / 40,
      finished,
      latencySumSeconds: 8 * finished,
    },
  ]);
  const body = filterPage(page, path);
  const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8`;
  const made = Buffer.from(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  answers.set(key, made);
  return made;
}
