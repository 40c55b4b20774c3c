import { Counter, Gauge, type Registry } from 'prom-client';

/** Certificates, and clients that were not let in because of who they are. */
export class SecurityMetrics {
  readonly #registry: Registry;
  readonly #reloadFailures: Counter;
  readonly #handshakeFailures: Counter<'reason'>;
  readonly #permissionDenied: Counter;
  /** There is none before the first certificate. */
  #notAfter: Gauge | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#registry = registry;
    this.#reloadFailures = new Counter({
      name: 'plimsoll_xds_certificate_reload_failures_total',
      help: 'New certificate files that were refused; those from before are in force.',
      registers,
    });
    this.#handshakeFailures = new Counter({
      name: 'plimsoll_xds_tls_handshake_failures_total',
      help: 'Clients that did not get through the TLS handshake.',
      labelNames: ['reason'],
      registers,
    });
    this.#permissionDenied = new Counter({
      name: 'plimsoll_xds_permission_denied_total',
      help: 'Streams refused because the client may see no server group.',
      registers,
    });
  }

  certificateTaken(validUntilMs: number): void {
    this.#notAfter ??= new Gauge({
      name: 'plimsoll_xds_certificate_not_after_seconds',
      help: 'When the certificate in force, or an intermediate one with it, expires: Unix time.',
      registers: [this.#registry],
    });
    this.#notAfter.set(validUntilMs / 1000);
  }

  certificateRefused(): void {
    this.#reloadFailures.inc();
  }

  /** @param reason one of a bounded set. */
  handshakeFailed(reason: string): void {
    this.#handshakeFailures.inc({ reason });
  }

  permissionDenied(): void {
    this.#permissionDenied.inc();
  }
}
