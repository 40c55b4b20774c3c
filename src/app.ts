import type { ReloadCause } from './admin/configuration-history.ts';
import { LiveState } from './admin/live-state.ts';
import { Metrics } from './admin/metrics.ts';
import { SidecarLog } from './admin/sidecar-log.ts';
import { AdminServer } from './admin/server.ts';
import { FoundEngines } from './collect/found-engines.ts';
import { CollectorPool } from './collect/pool.ts';
import { ConfigurationInForce } from './config/in-force.ts';
import type { ConfigurationFile } from './config/schema.ts';
import type { Configuration, ListenAddress, Listener } from './core/model/configuration.ts';
import type { GroupDecision } from './core/model/decision.ts';
import { markShared } from './core/shared-backends.ts';
import { discovererOf } from './discovery/discoverer-of.ts';
import { DiscoveryManager } from './discovery/manager.ts';
import { Balancer } from './publish/balancer.ts';
import { type PublishedVersions, Publisher } from './publish/publisher.ts';
import type { RolloutTimes } from './publish/rollout.ts';
import { SnapshotStore } from './publish/snapshot-store.ts';
import { standingListeners } from './publish/standing-listeners.ts';
import { WarningLog } from './publish/warning-log.ts';
import { type Clock, sleep, unixMs } from './runtime/clock.ts';
import { every } from './runtime/every.ts';
import { watchEventLoop } from './runtime/event-loop-watch.ts';
import { formatHostPort } from './runtime/host-port.ts';
import type { Logger } from './runtime/log.ts';
import { roomForConnections } from './runtime/open-files.ts';
import { shortened } from './runtime/shortened.ts';
import { printable } from './runtime/text.ts';
import { packageVersion } from './runtime/version.ts';
import { AUDIENCES, type Audience, audienceOf } from './xds/audience.ts';
import { encoder, listenerEncoders } from './xds/encoder.ts';
import { PermittedSources } from './xds/permitted-sources.ts';
import { TYPE_URLS } from './xds/resources/type-urls.ts';
import { type XdsObserver, XdsServer } from './xds/server.ts';
import { XDS_SERVICES } from './xds/services.ts';

/** The addresses that are bound, with the kernel's choice where port 0 was asked for. */
export interface BoundAddresses {
  readonly xds: ListenAddress;
  readonly admin: ListenAddress;
}

/** The file that a configuration comes from. */
export interface ConfigurationSource {
  /** Its path, for people. */
  readonly file: string;
  readonly fields: ConfigurationFile;
}

/** What a reload cannot change. */
const FIXED_PARTS = ['xds', 'admin', 'log'] as const;
const FIXED_FIELDS = ['Xds', 'Admin', 'Log'] as const;
/** How often it is looked which sidecars are behind. */
const SIDECARS_LOOK_MS = 2_000;
const NO_VERSIONS: ReadonlyMap<string, string> = new Map();
/** Names of a refused response, and of unhealthy backends, that are shown. */
const NAMES_SHOWN = 10;

/**
 * The control plane. Stages meet only here, in the order of the data flow: discovery → collect → balance and publish →
 * xds, with the admin server looking on. One thing flows back: when sidecars took an assignment.
 */
export class App {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #discovery: DiscoveryManager;
  readonly #collectors: CollectorPool;
  readonly #publisher: Publisher;
  readonly #balancer: Balancer;
  readonly #xds: XdsServer;
  readonly #admin: AdminServer;
  readonly #state: LiveState;
  readonly #warnings: WarningLog;
  readonly #foundEngines: FoundEngines;
  #configuration: Configuration;
  readonly #inForce: ConfigurationInForce;
  /** Those that sidecars are to have. */
  #listeners: readonly Listener[] = [];
  /** Groups that wait for their first assignment, as their backends were not known when they were configured. */
  #awaited = new Set<string>();
  #stopping = false;
  #cancelStep = (): void => undefined;
  #endWatch = (): void => undefined;
  #announced = false;
  #bound: BoundAddresses | undefined;
  #endpointStreams = 0;

  constructor(options: {
    readonly configuration: Configuration;
    /** Default: none, it is shown as empty. */
    readonly source?: ConfigurationSource;
    readonly clock: Clock;
    readonly log: Logger;
    /** Default: as sidecars need it. */
    readonly rolloutTimes?: RolloutTimes;
  }) {
    const { clock, log } = options;
    this.#configuration = options.configuration;
    this.#clock = clock;
    this.#log = log;
    this.#warnings = new WarningLog(log);
    this.#foundEngines = new FoundEngines(log);
    this.#metrics = new Metrics(
      () => this.#balancer.decisions,
      () => clock.now(),
    );
    this.#inForce = new ConfigurationInForce(options.source?.fields);
    this.#state = new LiveState({
      version: packageVersion(),
      file: options.source?.file ?? '',
      ready: () => this.#ready,
      status: (serverGroup) => this.#balancer.status(serverGroup),
      discovery: (serverGroup) => this.#discovery.status(serverGroup),
      now: () => clock.now(),
      unixMs,
    });
    this.#state.configuration.taken('start', this.#inForce.yaml, []);
    this.#metrics.showSidecars(() => this.#state.sidecars.counts);
    this.#discovery = new DiscoveryManager({
      clock,
      log,
      open: (settings) => discovererOf(settings, clock),
      changed: () => {
        this.#takeBackends();
      },
      noted: (serverGroup) => {
        this.#state.discovered(serverGroup);
      },
      failed: (serverGroup) => {
        this.#metrics.discovery.failed(serverGroup);
      },
    });
    this.#metrics.discovery.show(
      () => this.#discovery.found,
      () => clock.now(),
    );
    this.#collectors = new CollectorPool({
      clock,
      log,
      onRun: (groups, run) => {
        this.#balancer.evaluate(groups, run);
      },
    });
    const stores = {
      aggregated: new SnapshotStore(),
      separate: new SnapshotStore(),
      grpc: new SnapshotStore(),
    } satisfies Record<Audience, SnapshotStore>;
    this.#publisher = new Publisher(
      encoder,
      AUDIENCES.map((audience) => ({ store: stores[audience], listener: listenerEncoders[audience] })),
      options.rolloutTimes,
    );
    this.#balancer = new Balancer({
      publisher: this.#publisher,
      clock,
      log,
      observer: {
        evaluated: (decision, run) => {
          this.#metrics.evaluated(decision, run);
          this.#state.evaluated(decision, run);
          this.#warnings.evaluated(decision);
          this.#foundEngines.note(decision);
        },
        published: (decision, versions) => {
          this.#published(decision, versions);
        },
        acknowledgedAfter: (serverGroup, seconds) => {
          this.#metrics.delays.acknowledgedAfter(serverGroup, seconds);
        },
        applied: (serverGroup, times) => {
          this.#metrics.delays.applied(serverGroup, times);
          this.#state.applied(serverGroup, times.sidecars);
        },
        unapplied: (serverGroup, reason, streams) => {
          this.#metrics.delays.unapplied(serverGroup, reason, streams);
        },
      },
    });
    const { tls, authorization } = options.configuration.xds;
    const permitted = new PermittedSources(authorization);
    this.#xds = new XdsServer({
      services: XDS_SERVICES,
      sourceOf: (node, kind, identities) => {
        const source = permitted.of(stores[audienceOf(node, kind)], identities);
        if (source === undefined) this.#metrics.security.permissionDenied();
        return source;
      },
      tls: tls && { files: tls, observer: this.#metrics.security },
      settings: options.configuration.xds,
      clock,
      log,
      observer: this.#observeXds(),
    });
    this.#admin = new AdminServer({
      settings: options.configuration.admin,
      clock,
      log,
      state: this.#state,
      ready: () => this.#ready,
      waiting: () => this.#discovery.waiting,
      metrics: () => this.#metrics.page(),
      metricsContentType: this.#metrics.contentType,
      explain: {
        groups: () => this.#configuration.serverGroups.map(({ name }) => name),
        status: (serverGroup) => this.#balancer.status(serverGroup),
        discovery: (serverGroup) => this.#discovery.status(serverGroup),
        now: () => clock.now(),
        openStreams: () => this.#endpointStreams,
      },
    });
  }

  /**
   * Binds both addresses and begins to collect.
   * @throws PlimsollError `io` when an address cannot be bound or a file cannot be used; nothing is left open then.
   */
  async start(): Promise<BoundAddresses> {
    const { xds, admin } = this.#configuration;
    const boundAdmin = await this.#admin.listen();
    try {
      this.#bound = { admin: boundAdmin, xds: await this.#xds.listen(xds.listen) };
    } catch (error) {
      await this.#admin.stop();
      throw error;
    }
    this.#log.info({ xds: show(this.#bound.xds), admin: show(this.#bound.admin) }, 'listening');
    if (xds.tls === undefined && !isLoopback(xds.listen.host)) {
      this.#log.warn(
        { xds: show(this.#bound.xds) },
        'no Xds.Tls: whoever reaches this port reads every assignment',
      );
    }
    if (admin.bearerTokenFile === undefined && !isLoopback(admin.listen.host)) {
      this.#log.warn(
        { admin: show(this.#bound.admin), tls: admin.tls !== undefined },
        'no Admin.BearerTokenFile: whoever reaches this port reads the configuration and what sidecars and backends do',
      );
    } else if (admin.tls === undefined && !isLoopback(admin.listen.host)) {
      this.#log.warn(
        { admin: show(this.#bound.admin) },
        'no Admin.Tls: the token of Admin.BearerTokenFile goes over the network in plain text',
      );
    }
    const room = roomForConnections();
    if (room < xds.limits.streams) {
      const { streams } = xds.limits;
      this.#log.info(
        { streams, room },
        'the limit of open files (ulimit -n) lets in fewer connections than Xds.Limits.Streams',
      );
    }
    const endLoopWatch = watchEventLoop(this.#clock, (lateMs) => {
      this.#metrics.loopDelayed(lateMs / 1000);
    });
    const sidecarLog = new SidecarLog(this.#log, this.#state.sidecars, () => this.#clock.now());
    const endSidecarWatch = every(this.#clock, SIDECARS_LOOK_MS, () => {
      sidecarLog.look();
    });
    this.#endWatch = () => {
      endLoopWatch();
      endSidecarWatch();
    };
    this.#configure(this.#configuration);
    return this.#bound;
  }

  /**
   * Puts another configuration in force. Groups that it does not touch keep what they have learned.
   * @param fields the file that it comes from; undefined: none, what has changed is not said.
   */
  reload(configuration: Configuration, because: ReloadCause = 'signal', fields?: ConfigurationFile): void {
    if (this.#stopping) {
      this.#log.warn('stopping: the reload is left out');
      return;
    }
    const before = this.#configuration;
    const fixed = FIXED_PARTS.filter(
      (part) => JSON.stringify(before[part]) !== JSON.stringify(configuration[part]),
    );
    const needsRestart = FIXED_FIELDS.filter((_, index) => fixed.includes(FIXED_PARTS[index] ?? 'log'));
    for (const part of needsRestart) {
      this.#log.warn(`a change of ${part} needs a restart; the value from before stays in force`);
    }
    if (before.listeners.length > 0 && configuration.listeners.length === 0) {
      this.#log.warn('no listeners any more: sidecars keep those that they have');
    }
    const { xds, admin, log } = before;
    this.#configuration = { ...configuration, xds, admin, log };
    // before both addresses are bound, start() goes on with it
    if (this.#bound !== undefined) {
      this.#configure(this.#configuration);
      this.#advance();
    }
    this.#metrics.reloaded('success');
    const changes = fields === undefined ? [] : this.#inForce.replace(fields);
    this.#state.configuration.taken(because, this.#inForce.yaml, changes, needsRestart);
    this.#log.info(
      { because, changes, serverGroups: configuration.serverGroups.length },
      'configuration reloaded',
    );
  }

  /**
   * A new configuration could not be put in force: the one before stays.
   * @param mistakes at least one, in words
   */
  reloadRefused(because: ReloadCause, mistakes: readonly string[]): void {
    this.#metrics.reloaded('failure');
    this.#state.configuration.refused(because, mistakes);
    this.#log.error(
      { because, mistakes: mistakes.slice(0, 20), total: mistakes.length },
      'reload refused: nothing has changed',
    );
  }

  /**
   * Stops collecting, goes on serving for the drain period, then ends all streams; sidecars keep what they have.
   * @param hurry cuts the drain period short.
   */
  async stop(hurry: AbortSignal): Promise<void> {
    this.#stopping = true;
    this.#cancelStep();
    await this.#discovery.stop();
    await this.#collectors.stop();
    const { drainSeconds } = this.#configuration.xds;
    this.#log.info({ drainSeconds }, 'stopping: sidecars keep their last assignment');
    await sleep(this.#clock, drainSeconds * 1000, hurry);
    await this.#xds.stop();
    await this.#admin.stop();
    this.#endWatch();
  }

  get #ready(): boolean {
    return !this.#stopping && this.#publisher.complete;
  }

  #configure({ serverGroups }: Configuration): void {
    this.#discovery.configure(serverGroups);
    this.#awaited = new Set(this.#discovery.waiting.map(({ serverGroup }) => serverGroup));
    const gone = this.#configurePublisher();
    this.#takeBackends();
    for (const serverGroup of gone) {
      this.#metrics.forget(serverGroup);
      this.#warnings.forget(serverGroup);
      this.#foundEngines.forget(serverGroup);
      this.#log.warn({ serverGroup }, 'server group removed: sidecars that use it keep its last assignment');
    }
    this.#announce();
  }

  /** @returns the names of the groups that went. */
  #configurePublisher(): readonly string[] {
    const configuration = this.#configuration;
    this.#listeners = standingListeners(configuration, this.#listeners, (name) => this.#awaited.has(name));
    return this.#publisher.configure(configuration.serverGroups, this.#listeners, this.#clock.now());
  }

  /** Groups whose backends are not known yet are left out: their sidecars are told nothing until they are. */
  #takeBackends(): void {
    const { groups: found } = this.#discovery;
    const groups = markShared(found);
    const known = new Map(groups.map((group) => [group.name, group]));
    this.#state.configure(this.#configuration.serverGroups.map((group) => known.get(group.name) ?? group));
    this.#balancer.configure(groups);
    this.#collectors.configure(found);
  }

  /** What a reload changed goes out in steps, see {@link Publisher.configure}. */
  #advance(): void {
    this.#cancelStep();
    const nextMs = this.#publisher.advance(this.#clock.now());
    if (nextMs === undefined) return;
    this.#cancelStep = this.#clock.schedule(nextMs - this.#clock.now(), () => {
      this.#advance();
    });
  }

  #published(decision: GroupDecision, { version, zones }: PublishedVersions): void {
    const { serverGroup, publish: because, mode, gain, assignment, observing } = decision;
    this.#metrics.published(decision);
    const ofZones = new Map(Array.from(zones, ([zone, of]) => [zone, of.version]));
    this.#state.published(serverGroup, version, ofZones);
    const ids = assignment.endpoints
      .filter(({ health }) => health === 'UNHEALTHY')
      .map(({ address, port }) => formatHostPort(address, port));
    const unhealthy = shortened(ids, NAMES_SHOWN);
    // in overload both are another one at each evaluation; that it begins and ends is a warning
    const level = because === 'shares' || because === 'admission' ? 'debug' : 'info';
    const { dropShare } = assignment;
    this.#log[level](
      { serverGroup, because, mode, gain, unhealthy, dropShare, version, ...(observing && { observing }) },
      'assignment published',
    );
    if (this.#awaited.delete(serverGroup)) {
      this.#configurePublisher();
      this.#advance();
    }
    this.#announce();
  }

  #announce(): void {
    if (this.#announced || this.#bound === undefined || !this.#publisher.complete) return;
    this.#announced = true;
    this.#log.info({ xds: show(this.#bound.xds), admin: show(this.#bound.admin) }, 'ready');
  }

  #observeXds(): XdsObserver {
    const metrics = this.#metrics;
    const { sidecars } = this.#state;
    return {
      streamOpened: (service, variant) => {
        metrics.streamOpened(service, variant);
        if (tellsEndpoints(service)) this.#endpointStreams++;
      },
      identified: (stream, client) => {
        sidecars.joined(stream, client);
      },
      streamClosed: (service, variant, stream) => {
        sidecars.left(stream);
        metrics.streamClosed(service, variant);
        if (tellsEndpoints(service)) this.#endpointStreams--;
        this.#balancer.left(stream);
      },
      sent: (typeUrl, bytes) => {
        metrics.sent(typeUrl, bytes);
      },
      acknowledged: (acknowledgement) => {
        const { typeUrl, resources, stream } = acknowledgement;
        metrics.acknowledged(typeUrl);
        const versions = typeUrl === TYPE_URLS.endpoint ? resources : NO_VERSIONS;
        sidecars.acknowledged(stream, typeUrl, versions);
        if (typeUrl !== TYPE_URLS.endpoint) return;
        for (const [name, version] of resources) {
          this.#balancer.acknowledged(name, version, acknowledgement);
        }
      },
      rejected: ({ typeUrl, node, stream, resources, message }) => {
        metrics.rejected(typeUrl, node);
        const names = [...resources.keys()].slice(0, NAMES_SHOWN).join(' ');
        sidecars.rejected(stream, typeUrl, printable(names), message);
        if (typeUrl !== TYPE_URLS.endpoint) return;
        for (const [name, version] of resources) this.#balancer.rejected(name, version, stream);
      },
      unknownName: (typeUrl) => {
        metrics.unknownName(typeUrl);
      },
      unknownType: () => {
        metrics.unknownType();
      },
      refused: (limit) => {
        metrics.refused(limit);
      },
    };
  }
}

/** Whether sidecars may ask for endpoints on streams of this service. */
function tellsEndpoints(service: string): boolean {
  return service === 'ads' || service === 'eds';
}

function isLoopback(ip: string): boolean {
  return ip === '::1' || ip.startsWith('127.');
}

function show({ host, port }: ListenAddress): string {
  return formatHostPort(host, port);
}
