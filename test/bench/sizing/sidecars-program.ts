/** The sidecars of `npm run bench:sizing`: delta streams that acknowledge whatever comes, each on a connection of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { messageFrames, opening } from '../fanout/frames.ts';
import { acknowledgement, firstRequest, PATHS } from '../fanout/requests.ts';
import { Sidecar, WINDOW_BYTES } from '../fanout/sidecar.ts';
import { answerParent } from '../routing/child.ts';
import type { SidecarsAnswer, SidecarsQuestion } from './programs.ts';

/** That connect at a time, and how long until the next. */
const AT_ONCE = 50;
const PAUSE_MS = 20;

let responses = 0;
let served = 0;
let ended = 0;

await answerParent(async (question: SidecarsQuestion): Promise<SidecarsAnswer> => {
  if (question.kind === 'connect') {
    const head = opening(PATHS.delta, WINDOW_BYTES);
    for (let index = 0; index < question.count; index++) {
      open(index, question.port, head);
      if (index % AT_ONCE === AT_ONCE - 1) await delay(PAUSE_MS);
    }
  }
  return { responses, served, ended };
});

function open(index: number, port: number, head: Buffer): void {
  let first = true;
  const sidecar = new Sidecar({
    port,
    hello: [head, messageFrames(firstRequest('delta', `sidecar-${index}`))],
    onResponse: (response) => {
      responses++;
      if (first) served++;
      first = false;
      sidecar.send(messageFrames(acknowledgement('delta', response)));
    },
    onEnd: () => {
      ended++;
    },
  });
}
