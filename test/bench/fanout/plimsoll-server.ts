/**
 * The control plane of `npm run bench:fanout` without collection: publisher, xDS server and metrics. It follows commands on its
 * standard input, each answered by one line:
 *
 *     prepare FIRST COUNT   builds the assignments of these pushes
 *     push N                publishes the prepared assignment of that number
 *     cpu                   tells the processor time used so far, in microseconds
 */
import { createInterface } from 'node:readline';
import { Metrics } from '../../../src/admin/metrics.ts';
import { rehearse } from '../../../src/commands/rehearsal.ts';
import type { Assignment } from '../../../src/core/model/assignment.ts';
import { AckDelay } from '../../../src/publish/ack-delay.ts';
import { ApplyDelay } from '../../../src/publish/apply-delay.ts';
import { Publisher } from '../../../src/publish/publisher.ts';
import { SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { encoder } from '../../../src/xds/encoder.ts';
import { XdsServer } from '../../../src/xds/server.ts';
import { XDS_SERVICES } from '../../../src/xds/services.ts';
import { serverGroup } from '../../support/configuration.ts';
import { xdsSettings } from '../../support/xds-settings.ts';
import { assignmentOf, GROUP } from './assignment.ts';

const backends = Number(process.argv[2]);
const store = new SnapshotStore();
const publisher = new Publisher(encoder, [{ store, listener: () => [] }]);
const metrics = new Metrics(
  () => [],
  () => systemClock.now(),
);
const ackDelay = new AckDelay();
const applyDelay = new ApplyDelay({
  applied: (times) => {
    metrics.delays.applied(GROUP, times);
  },
  unapplied: (reason, streams) => {
    metrics.delays.unapplied(GROUP, reason, streams);
  },
});
const server = new XdsServer({
  services: XDS_SERVICES,
  sourceOf: () => store,
  // All streams come from one address.
  settings: xdsSettings({ streamsPerIdentity: 20_000, newStreamsPerSecond: 20_000 }),
  clock: systemClock,
  log: silentLogger,
  observer: {
    identified: () => undefined,
    streamOpened: (service, variant) => {
      metrics.streamOpened(service, variant);
    },
    streamClosed: (service, variant, stream) => {
      metrics.streamClosed(service, variant);
      applyDelay.left(stream);
    },
    sent: (typeUrl, bytes) => {
      metrics.sent(typeUrl, bytes);
    },
    acknowledged: ({ typeUrl, stream, resources, subscribedAtMs, atMs }) => {
      metrics.acknowledged(typeUrl);
      for (const version of resources.values()) {
        ackDelay.acknowledged(version, subscribedAtMs, atMs);
        applyDelay.acknowledged(stream, version, atMs);
      }
    },
    rejected: ({ typeUrl, node }) => {
      metrics.rejected(typeUrl, node);
    },
    unsubscribed: (stream) => {
      applyDelay.left(stream);
    },
    unknownType: () => {
      metrics.unknownType();
    },
    unknownName: (typeUrl) => {
      metrics.unknownName(typeUrl);
    },
    refused: (limit) => {
      metrics.refused(limit);
    },
  },
});
publisher.configure([serverGroup(GROUP, { servers: [] })], [], 0);
publisher.publish(assignmentOf(0, backends));
await rehearse(systemClock);
const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
console.log(`port ${port}`);

const prepared = new Map<number, Assignment>();
for await (const line of createInterface({ input: process.stdin })) console.log(obey(line));
await server.stop();

function obey(line: string): string {
  const [word = '', ...numbers] = line.split(' ');
  const [first = 0, count = 0] = numbers.map(Number);
  switch (word) {
    case 'prepare':
      for (let number = first; number < first + count; number++) {
        prepared.set(number, assignmentOf(number, backends));
      }
      return 'prepared';
    case 'push':
      return push(first);
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      return `cpu ${user + system}`;
    }
    default:
      throw new Error(`unknown command ${line}`);
  }
}

function push(number: number): string {
  const assignment = prepared.get(number);
  if (assignment === undefined) throw new Error(`push ${number} is not prepared`);
  prepared.delete(number);
  const startedAtMs = systemClock.now();
  const { version } = publisher.publish(assignment);
  const nowMs = systemClock.now();
  ackDelay.published(new Set([version]), startedAtMs, nowMs);
  applyDelay.published(version, { startedAtMs, endedAtMs: startedAtMs }, nowMs);
  return 'pushed';
}
