import type { ReloadCause } from './admin/configuration-history.ts';
import { LiveState } from './admin/live-state.ts';
import { Metrics } from './admin/metrics.ts';
import { AdminServer } from './admin/server.ts';
import { type BoundAddresses, logBound, showBound } from './app/bound-addresses.ts';
import { logPublished } from './app/published-log.ts';
import { Reloads } from './app/reloads.ts';
import { StagedRollout } from './app/staged-rollout.ts';
import { StreamEvents } from './app/stream-events.ts';
import { watch } from './app/watch.ts';
import { FoundEngines } from './collect/found-engines.ts';
import { CollectorPool } from './collect/pool.ts';
import type { ConfigurationFile } from './config/schema.ts';
import type { Configuration } from './core/model/configuration.ts';
import type { GroupDecision } from './core/model/decision.ts';
import { markShared } from './core/shared-backends.ts';
import { discovererOf } from './discovery/discoverer-of.ts';
import { DiscoveryManager } from './discovery/manager.ts';
import { Balancer } from './publish/balancer.ts';
import { type PublishedVersions, Publisher } from './publish/publisher.ts';
import type { RolloutTimes } from './publish/rollout.ts';
import { SnapshotStore } from './publish/snapshot-store.ts';
import { WarningLog } from './publish/warning-log.ts';
import { type Clock, sleep, unixMs } from './runtime/clock.ts';
import type { Logger } from './runtime/log.ts';
import { packageVersion } from './runtime/version.ts';
import { AUDIENCES, type Audience, audienceOf } from './xds/audience.ts';
import { encoder, listenerEncoders } from './xds/encoder.ts';
import { PermittedSources } from './xds/permitted-sources.ts';
import { XdsServer } from './xds/server.ts';
import { XDS_SERVICES } from './xds/services.ts';

/** The file that a configuration comes from. */
export interface ConfigurationSource {
  /** Its path, for people. */
  readonly file: string;
  readonly fields: ConfigurationFile;
}

/**
 * The control plane. Stages meet only here and in app/, in the order of the data flow: discovery → collect → balance and
 * publish → xds, with the admin server looking on. One thing flows back: when sidecars took an assignment.
 */
export class App {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #discovery: DiscoveryManager;
  readonly #collectors: CollectorPool;
  readonly #publisher: Publisher;
  readonly #rollout: StagedRollout;
  readonly #balancer: Balancer;
  readonly #xds: XdsServer;
  readonly #admin: AdminServer;
  readonly #state: LiveState;
  readonly #warnings: WarningLog;
  readonly #foundEngines: FoundEngines;
  readonly #reloads: Reloads;
  #configuration: Configuration;
  #stopping = false;
  #endWatch = (): void => undefined;
  /** Every group has had an assignment at a time: one that a reload adds and that waits for its own takes nothing from the others. */
  #started = false;
  #bound: BoundAddresses | undefined;

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
    this.#state = new LiveState({
      version: packageVersion(),
      file: options.source?.file ?? '',
      ready: () => this.#ready,
      status: (serverGroup) => this.#balancer.status(serverGroup),
      discovery: (serverGroup) => this.#discovery.status(serverGroup),
      now: () => clock.now(),
      unixMs,
    });
    this.#reloads = new Reloads({
      fields: options.source?.fields,
      history: this.#state.configuration,
      metrics: this.#metrics,
      log,
    });
    this.#metrics.showSidecars(() => this.#state.sidecars.counts);
    this.#metrics.showWarnings(() => this.#state.warningCounts());
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
    this.#rollout = new StagedRollout(this.#publisher, clock);
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
    const streams = new StreamEvents({
      metrics: this.#metrics,
      sidecars: this.#state.sidecars,
      balancer: this.#balancer,
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
      observer: streams,
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
        openStreams: () => streams.endpointStreams,
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
    logBound(this.#log, { xds, admin }, this.#bound);
    this.#endWatch = watch({
      clock: this.#clock,
      log: this.#log,
      metrics: this.#metrics,
      sidecars: this.#state.sidecars,
    });
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
    const needsRestart = this.#reloads.compare(before, configuration);
    const { xds, admin, log } = before;
    this.#configuration = { ...configuration, xds, admin, log };
    // before both addresses are bound, start() goes on with it
    if (this.#bound !== undefined) {
      this.#configure(this.#configuration);
      this.#rollout.advance();
    }
    this.#reloads.taken(configuration, because, needsRestart, fields);
  }

  /**
   * A new configuration could not be put in force: the one before stays.
   * @param mistakes at least one, in words
   */
  reloadRefused(because: ReloadCause, mistakes: readonly string[]): void {
    this.#reloads.refused(because, mistakes);
  }

  /**
   * Stops collecting, goes on serving for the drain period, then ends all streams; sidecars keep what they have.
   * @param hurry cuts the drain period short.
   */
  async stop(hurry: AbortSignal): Promise<void> {
    this.#stopping = true;
    this.#rollout.stop();
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
    return !this.#stopping && this.#started;
  }

  #configure({ serverGroups }: Configuration): void {
    this.#discovery.configure(serverGroups);
    const gone = this.#rollout.begin(this.#configuration);
    this.#takeBackends();
    for (const serverGroup of gone) {
      this.#metrics.forget(serverGroup);
      this.#warnings.forget(serverGroup);
      this.#foundEngines.forget(serverGroup);
      this.#log.warn({ serverGroup }, 'server group removed: sidecars that use it keep its last assignment');
    }
    this.#announce();
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

  #published(decision: GroupDecision, { version, zones }: PublishedVersions): void {
    const { serverGroup } = decision;
    this.#metrics.published(decision);
    const ofZones = new Map(Array.from(zones, ([zone, of]) => [zone, of.version]));
    this.#state.published(serverGroup, version, ofZones);
    logPublished(this.#log, decision, version);
    this.#rollout.published(serverGroup);
    this.#announce();
  }

  #announce(): void {
    if (this.#started || this.#bound === undefined || !this.#publisher.complete) return;
    this.#started = true;
    this.#log.info(showBound(this.#bound), 'ready');
  }
}
