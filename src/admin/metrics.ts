import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CollectRun } from '../core/model/collection.ts';
import type { GroupDecision } from '../core/model/decision.ts';
import { BoundedLabel } from './bounded-label.ts';
import { DecisionCounters } from './decision-counters.ts';
import { defineDecisionGauges, defineWarningsGauge } from './decision-metrics.ts';
import { DelayMetrics } from './delay-metrics.ts';
import { DiscoveryMetrics } from './discovery-metrics.ts';
import { SecurityMetrics } from './security-metrics.ts';
import { defineSidecarGauges } from './sidecar-metrics.ts';
import type { SidecarCounts } from './sidecars.ts';
import { shortType, Tally } from './tally.ts';

/** Nodes that the NACKs are told apart by. Their ids are the clients' choice and must not fill the page. */
const NACK_NODES = 100;

const LOOP_DELAY_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** The library's own figures of the event loop contain the interval that they are taken at: ours does not. */
const LIBRARY_LOOP_DELAY = /^plimsoll_nodejs_eventloop_lag_/;
/** The library takes them all the same; so seldom that it costs nothing. */
const SELDOM_MS = 3_600_000;

/** The metrics of the control plane, in base units, all named `plimsoll_…`. */
export class Metrics {
  readonly security: SecurityMetrics;
  readonly delays: DelayMetrics;
  readonly discovery: DiscoveryMetrics;
  readonly #registry = new Registry();
  readonly #decisions: DecisionCounters;
  readonly #streams: Gauge<'service' | 'variant'>;
  readonly #responses: Tally;
  readonly #responseBytes: Tally;
  readonly #acks: Tally;
  readonly #nacks: Counter<'type' | 'node'>;
  readonly #nackNodes = new BoundedLabel(NACK_NODES);
  readonly #unknownTypes: Counter;
  readonly #refused: Counter<'limit'>;
  readonly #unknownNames: Tally;
  readonly #reloads: Counter<'result'>;
  readonly #reloadOk: Gauge;
  readonly #loopDelay: Histogram;

  /**
   * @param decisions gives the latest decision of every group.
   * @param now the clock that decisions are timed by, in milliseconds.
   */
  constructor(decisions: () => readonly GroupDecision[], now: () => number) {
    const registers = [this.#registry];
    const tally = (name: string, help: string): Tally =>
      new Tally({ name: `plimsoll_xds_${name}`, help, registry: this.#registry });
    defineDecisionGauges(this.#registry, decisions, now);
    this.#decisions = new DecisionCounters(this.#registry);
    this.security = new SecurityMetrics(this.#registry);
    this.delays = new DelayMetrics(this.#registry);
    this.discovery = new DiscoveryMetrics(this.#registry);
    this.#responses = tally('responses_total', 'Responses written.');
    this.#responseBytes = tally('response_bytes_total', 'Bytes of the responses written.');
    this.#acks = tally('acks_total', 'Responses that a client took.');
    this.#unknownNames = tally('unknown_name_requests_total', 'Names asked for that do not exist.');
    this.#nacks = new Counter({
      name: 'plimsoll_xds_nacks_total',
      help: `Responses that a client refused, for the first ${NACK_NODES} nodes by node.`,
      labelNames: ['type', 'node'],
      registers,
    });
    this.#streams = new Gauge({
      name: 'plimsoll_xds_streams',
      help: 'Open xDS streams.',
      labelNames: ['service', 'variant'],
      registers,
    });
    this.#unknownTypes = new Counter({
      name: 'plimsoll_xds_unknown_type_requests_total',
      help: 'Requests for a type that is not served.',
      registers,
    });
    this.#refused = new Counter({
      name: 'plimsoll_xds_refused_total',
      help: 'Streams, connections and requests refused, and clients given up, by the field of Xds.Limits.',
      labelNames: ['limit'],
      registers,
    });
    this.#reloads = new Counter({
      name: 'plimsoll_config_reloads_total',
      help: 'Reloads of the configuration file.',
      labelNames: ['result'],
      registers,
    });
    this.#reloadOk = new Gauge({
      name: 'plimsoll_config_last_reload_successful',
      help: '1: the last reload was put in force; 0: it was refused, and what stood before does.',
      registers,
    });
    this.#reloadOk.set(1);
    this.#loopDelay = new Histogram({
      name: 'plimsoll_event_loop_delay_seconds',
      help: 'How much later than it was due a timer came, ten times a second: whatever waits for the process waits so long.',
      buckets: LOOP_DELAY_BUCKETS,
      registers,
    });
    collectDefaultMetrics({
      register: this.#registry,
      prefix: 'plimsoll_',
      eventLoopMonitoringPrecision: SELDOM_MS,
    });
    for (const { name } of this.#registry.getMetricsAsArray()) {
      if (LIBRARY_LOOP_DELAY.test(name)) this.#registry.removeSingleMetric(name);
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  page(): Promise<string> {
    return this.#registry.metrics();
  }

  evaluated(decision: GroupDecision, run: CollectRun | undefined): void {
    this.#decisions.evaluated(decision, run);
    if (run !== undefined) {
      this.delays.gathered(decision.serverGroup, (run.endedAtMs - run.startedAtMs) / 1000);
    }
  }

  /** The event loop came to a timer so much later than it was due. */
  loopDelayed(seconds: number): void {
    this.#loopDelay.observe(seconds);
  }

  published(decision: GroupDecision): void {
    this.#decisions.published(decision);
  }

  /** @param counts gives those of now. */
  showSidecars(counts: () => SidecarCounts): void {
    defineSidecarGauges(this.#registry, counts);
  }

  /** @param counts gives those of now, by group. */
  showWarnings(counts: () => ReadonlyMap<string, number>): void {
    defineWarningsGauge(this.#registry, counts);
  }

  /** Ends the series of a group that is gone. */
  forget(serverGroup: string): void {
    this.#decisions.forget(serverGroup);
    this.delays.forget(serverGroup);
    this.discovery.forget(serverGroup);
  }

  streamOpened(service: string, variant: string): void {
    this.#streams.inc({ service, variant });
  }

  streamClosed(service: string, variant: string): void {
    this.#streams.dec({ service, variant });
  }

  sent(typeUrl: string, bytes: number): void {
    this.#responses.add(typeUrl);
    this.#responseBytes.add(typeUrl, bytes);
  }

  acknowledged(typeUrl: string): void {
    this.#acks.add(typeUrl);
  }

  /** @param node the client's choice, printable and cut. */
  rejected(typeUrl: string, node: string): void {
    this.#nacks.inc({ type: shortType(typeUrl), node: this.#nackNodes.value(node) });
  }

  unknownName(typeUrl: string): void {
    this.#unknownNames.add(typeUrl);
  }

  unknownType(): void {
    this.#unknownTypes.inc();
  }

  /** @param limit one of a bounded set. */
  refused(limit: string): void {
    this.#refused.inc({ limit });
  }

  reloaded(result: 'success' | 'failure'): void {
    this.#reloads.inc({ result });
    this.#reloadOk.set(result === 'success' ? 1 : 0);
  }
}
