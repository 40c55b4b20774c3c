import { test } from 'node:test';
import { SnapshotStore } from '../../src/publish/snapshot-store.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import type { Acknowledgement, Rejection } from '../../src/xds/observer.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { XdsServer } from '../../src/xds/server.ts';
import { XDS_SERVICES } from '../../src/xds/services.ts';
import { type Contents, snapshot } from './snapshots.ts';
import { type ServiceKind, XdsClient } from './xds-client.ts';
import { Conversation, type Subject } from './xds-conversation.ts';
import { xdsObserver } from './xds-observer.ts';
import { xdsSettings } from './xds-settings.ts';

type Of = keyof typeof TYPE_URLS;
type Versions = Readonly<Record<string, string>>;

/** A service, one of its types, and a variant. */
export interface Case extends Subject {
  readonly of: Of;
  /** Responses are complete sets: in state of the world, of clusters and listeners. */
  readonly sets: boolean;
  /** A first request without names asks for everything. */
  readonly emptyMeansAll: boolean;
}

const OWN_SERVICE: Readonly<Record<Of, ServiceKind>> = {
  cluster: 'cds',
  endpoint: 'eds',
  listener: 'lds',
  route: 'rds',
};

const CASES: readonly Case[] = (['cluster', 'endpoint', 'listener', 'route'] as const).flatMap((of) =>
  (['ads', OWN_SERVICE[of]] as const).flatMap((kind) =>
    (['sotw', 'delta'] as const).map((variant) => {
      const emptyMeansAll = of === 'cluster' || of === 'listener';
      const sets = emptyMeansAll && variant === 'sotw';
      return { kind, variant, of, typeUrl: TYPE_URLS[of], emptyMeansAll, sets };
    }),
  ),
);

/** What a rule is tried on: a server of its own that has no snapshot yet, and a client that has not asked for anything. */
export interface Scene extends Case {
  readonly talk: Conversation;
  /** Makes these, by name, all that there is of the type. */
  readonly publish: (versions: Versions) => void;
  readonly publishAll: (contents: Contents) => void;
  /** Another client of the same, on another stream of the same connection. */
  readonly another: () => Conversation;
  /** Another type on an aggregated stream. */
  readonly beside: (talk: Conversation, of: Of) => Conversation;
  readonly acknowledged: readonly Acknowledgement[];
  readonly rejected: readonly Rejection[];
}

/** Tries a rule of the protocol on every service, type and variant that it holds for, each on real streams. */
export function rule(
  what: string,
  play: (scene: Scene) => Promise<void>,
  holdsFor?: (each: Case) => boolean,
): void {
  for (const each of CASES.filter((one) => holdsFor?.(one) ?? true)) {
    test(`${each.kind} ${each.variant} ${each.of}: ${what}`, async () => {
      await onServer(each, play);
    });
  }
}

async function onServer(each: Case, play: (scene: Scene) => Promise<void>): Promise<void> {
  const store = new SnapshotStore();
  const acknowledged: Acknowledgement[] = [];
  const rejected: Rejection[] = [];
  const server = new XdsServer({
    services: XDS_SERVICES,
    sourceOf: () => store,
    settings: xdsSettings({ requestsPerSecond: 1000 }),
    clock: systemClock,
    log: silentLogger,
    observer: xdsObserver({
      acknowledged: (one) => acknowledged.push(one),
      rejected: (one) => rejected.push(one),
    }),
  });
  const client = new XdsClient(await server.listen({ host: '127.0.0.1', port: 0 }));
  const another = (): Conversation => new Conversation(client, each);
  try {
    await play({
      ...each,
      talk: another(),
      another,
      beside: ({ stream }, of) => new Conversation(client, { ...each, typeUrl: TYPE_URLS[of] }, stream),
      publish: (versions) => {
        store.set(snapshot({ [each.of]: versions }));
      },
      publishAll: (contents) => {
        store.set(snapshot(contents));
      },
      acknowledged,
      rejected,
    });
  } finally {
    client.close();
    await server.stop();
  }
}

/** On an aggregated stream endpoints that come before clusters are taken for those of warming clusters. */
export async function clustersFirst({ kind, of, beside }: Scene, talk: Conversation): Promise<void> {
  if (kind !== 'ads' || of !== 'endpoint') return;
  const clusters = beside(talk, 'cluster');
  clusters.ask([]);
  await clusters.take();
}

export const isSotw = ({ variant }: Case): boolean => variant === 'sotw';
export const isDelta = ({ variant }: Case): boolean => variant === 'delta';
export const isAggregated = ({ kind }: Case): boolean => kind === 'ads';
