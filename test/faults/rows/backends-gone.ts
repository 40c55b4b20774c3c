import { ALL_HEALTHY, everySidecar, everyTarget, healthy } from '../looks.ts';
import type { Failure, Fault, Row, Stage, Times } from '../model.ts';
import { lone, share } from '../pick.ts';
import { changed, changing, everyWeight, isCut, isUnanswered, JOINED } from './one-backend.ts';

/** A second around the end of a process: what it still takes, and what a sidecar has sent by then. */
const AROUND_SECONDS = 1;
/** How long it is at another port. */
const MOVED_SECONDS = 10;
const UNREAD = {
  what: 'it is not read any more, and its weight is that of the most loaded one',
  withinSeconds: 5,
  when: everyTarget(({ missed }) => missed >= 2),
};
const EJECTED = 'sidecars leave out for 5 s, each time longer, what failed five times in a row';

/** Engines that end, stop, move, restart, sleep, become slow, or fail. */
export const BACKENDS_GONE: readonly Row[] = [
  {
    part: 'backends',
    name: 'killed',
    happens: 'one of ten is killed (SIGKILL) and started again 3 s later',
    faultsOwn: 'what was inside it, and what reached it in the second around its end',
    isFaultsOwn: (failure, times) => isCut(failure, times) && failure.sentAt < AROUND_SECONDS,
    fault: (stage) => {
      const { host, backend } = lone(stage);
      return { targets: [backend.id], apply: () => host.kill(), undo: () => host.restart() };
    },
    holdSeconds: 3,
    notice: { ...UNREAD, withinSeconds: 4 },
    // a sidecar that is refused sends to another one
    targetsGetAtMost: 0,
    recover: { withinSeconds: 12, because: EJECTED },
    short: true,
  },
  {
    part: 'backends',
    name: 'hung',
    happens: 'one of ten is stopped (SIGSTOP) for 15 s: it takes connections and says nothing',
    faultsOwn: 'requests that wait for it: nobody asks it whether it is alive',
    isFaultsOwn: isUnanswered,
    fault: hanging,
    holdSeconds: 15,
    notice: UNREAD,
    // a sidecar gives less to whom it has more requests in flight with
    targetsGetAtMost: 0.05,
    recover: { withinSeconds: 10, because: 'it still has the requests of before' },
  },
  {
    part: 'backends',
    name: 'hung, with a health check',
    happens:
      'one of ten is stopped (SIGSTOP) for 15 s, and sidecars ask each every second whether it is alive, twice before they believe that it is not',
    faultsOwn: 'requests that wait for it, sent before it is put out',
    isFaultsOwn: (failure, times) => isUnanswered(failure, times) && failure.sentAt < times.noticedAt,
    fault: withHealthCheck,
    holdSeconds: 15,
    notice: {
      what: 'the sidecar that has its cluster from here has put it out',
      // two checks of 1 s each, 1.2 s apart, and what was left of the pause before them
      withinSeconds: 6,
      when: ({ sidecars: [first = []] }) =>
        first.every(({ target, health }) => !target || health === 'FAILED'),
    },
    targetsGetAtMost: 0,
    recover: { withinSeconds: 10, because: 'it still has the requests of before' },
    needsLab: true,
  },
  {
    part: 'backends',
    name: 'restarted on another port',
    happens:
      'one of ten is killed, comes back on another port, and the configuration is told; 10 s later back again',
    faultsOwn: 'what was inside it each time, and what reached it in the second around its end',
    isFaultsOwn: ({ kind, sentAt, endedAt }, { undoneAt }) =>
      (kind === 'broken' || kind === 'unavailable') &&
      (sentAt < AROUND_SECONDS || (endedAt > MOVED_SECONDS && sentAt < undoneAt)),
    fault: moving,
    holdSeconds: MOVED_SECONDS,
    notice: {
      what: 'sidecars have it on its new port',
      withinSeconds: 5,
      when: ({ sidecars }) =>
        sidecars.every((held) => healthy(held).length === 10 && healthy(held).every(({ target }) => !target)),
    },
    targetsGetAtMost: 0,
    recover: { withinSeconds: 12, because: EJECTED },
    // its old port leaves 30 s later
    extraPushes: 3,
  },
  {
    part: 'backends',
    name: 'flapping',
    happens: 'one of ten closes its port each second, and opens it half a second later, for 15 s',
    faultsOwn: 'what is inside it at each time',
    isFaultsOwn: isCut,
    fault: flapping,
    holdSeconds: 15,
    throughout: ALL_HEALTHY,
    recover: { withinSeconds: 15, because: EJECTED },
  },
  {
    part: 'backends',
    name: 'all restarted at once',
    happens: 'every backend is killed, and all are started again 4 s later',
    faultsOwn: 'what is sent until they are back, and until sidecars try them again',
    isFaultsOwn: ({ kind, sentAt }, { undoneAt }) =>
      (kind === 'broken' || kind === 'unavailable') && sentAt < undoneAt + 2,
    fault: ({ hosts }) => ({
      targets: hosts.flatMap(({ backends }) => backends.map(({ id }) => id)),
      apply: async () => {
        await Promise.all(hosts.map((host) => host.kill()));
      },
      undo: async () => {
        await Promise.all(hosts.map((host) => host.restart()));
      },
    }),
    holdSeconds: 4,
    notice: { ...UNREAD, what: 'none is read any more', withinSeconds: 4 },
    throughout: ALL_HEALTHY,
    recover: { withinSeconds: 20, because: EJECTED },
  },
  {
    ...changed('slow', 'one of ten takes ten times as long for 25 s', [{ slowness: 10 }, { slowness: 1 }]),
    faultsOwn: 'requests that wait 8 s for it',
    isFaultsOwn: isUnanswered,
    holdSeconds: 25,
    notice: {
      what: 'its weight is less than half of the mean',
      // clients give up after 8 s, so that it never holds many: what tells is how few finish, a mean over a minute
      withinSeconds: 30,
      when: everyWeight((timesMean) => timesMean < 0.5),
    },
    targetsGetAtMost: 0.06,
    recover: { withinSeconds: 90, because: 'how fast a backend serves is a mean over a minute' },
  },
  {
    ...changed(
      'failing',
      'one of ten fails every request in 1 ms for 20 s, and its metrics page tells of no load',
      [{ failing: true }, { failing: false }],
    ),
    faultsOwn:
      'what was inside it, and five requests at each sidecar until it leaves it out, each time that it lets it in',
    isFaultsOwn: (failure, times) =>
      isError(failure, times) || (isCut(failure, times) && failure.sentAt < 0.5),
    holdSeconds: 20,
    notice: {
      what: 'a sidecar leaves it out',
      withinSeconds: 10,
      when: ({ sidecars }) =>
        sidecars.some((held) => held.some(({ target, health }) => target && health === 'EJECTED')),
    },
    targetsGetAtMost: 0.08,
    recover: { withinSeconds: 30, because: EJECTED },
  },
  {
    ...changed('asleep', 'the engine of one of ten says that it sleeps, and wakes 8 s later', [
      { metrics: { kind: 'asleep' } },
      { metrics: { kind: 'live' } },
    ]),
    holdSeconds: 8,
    notice: {
      what: 'sidecars do not have it',
      withinSeconds: 3,
      when: everySidecar(({ target }) => !target),
    },
    targetsGetAtMost: 0,
    recover: JOINED,
    extraPushes: 2,
  },
];

function isError({ kind, backend }: Failure, { targets }: Times): boolean {
  return kind === 'status' && (backend === undefined || targets.includes(backend));
}

function hanging(stage: Stage): Fault {
  const { host, backend } = lone(stage);
  return {
    targets: [backend.id],
    apply: async () => host.freeze(),
    undo: async () => host.thaw(),
  };
}

/** The cluster of the other sidecar is that of its bootstrap, without health checks. */
function withHealthCheck(stage: Stage): Fault {
  const { plane, load, wires } = stage;
  const inGroup =
    'HealthCheck: {Path: /health, IntervalSeconds: 1, TimeoutSeconds: 1, UnhealthyThreshold: 2}';
  return {
    ...hanging(stage),
    arrange: async () => {
      await plane.configure({ inGroup });
      load.sidecars = 1;
    },
    restore: async () => {
      load.sidecars = wires.length;
      await plane.configure({});
    },
  };
}

function moving(stage: Stage): Fault {
  const { host, backend } = lone(stage);
  const move = async (otherPorts: boolean): Promise<void> => {
    await host.kill();
    await host.restart({ otherPorts });
    await stage.plane.configure({});
  };
  return { targets: [backend.id], apply: () => move(true), undo: () => move(false) };
}

function flapping(stage: Stage): Fault {
  const backends = share(stage, 0.1);
  const { targets } = changing(backends, {}, {});
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;
  const turn = (): void => {
    closed = !closed;
    const to = closed;
    last = last.then(() => Promise.all(backends.map((backend) => backend.change({ closed: to }))));
  };
  return {
    targets,
    apply: async () => {
      turn();
      timer = setInterval(turn, 500);
    },
    undo: async () => {
      clearInterval(timer);
      if (closed) turn();
      await last;
    },
  };
}
