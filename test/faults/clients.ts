import { Child } from '../bench/routing/child.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * What many sidecars at once do. `good`: take all that comes. `refusing`: refuse all of it. `restless`: connect, take the
 * first assignment, go away, and come back at once.
 */
export type ClientBehaviour = 'good' | 'refusing' | 'restless';

export type ClientsQuestion =
  | {
      readonly kind: 'start';
      readonly count: number;
      readonly behaviour: ClientBehaviour;
      readonly port: number;
      /** PEM */
      readonly authority: string;
    }
  | { readonly kind: 'look' };

export interface ClientsAnswer {
  /** Responses that came so far. */
  readonly responses: number;
}

/** Simulated sidecars in a process of their own. */
export class Clients {
  readonly #child = new Child<ClientsQuestion, ClientsAnswer>('../../faults/clients-program.ts');
  #frozen = false;

  async start(options: Omit<ClientsQuestion & { readonly kind: 'start' }, 'kind'>): Promise<void> {
    await this.#child.ask({ kind: 'start', ...options });
  }

  /** Resolves when so many responses came. */
  async served(responses: number): Promise<void> {
    await waitFor(
      `${responses} responses`,
      async () => (await this.#child.ask({ kind: 'look' })).responses >= responses,
      20_000,
    );
  }

  /** SIGSTOP: their connections stay, they read nothing. */
  freeze(): void {
    process.kill(this.#child.pid, 'SIGSTOP');
    this.#frozen = true;
  }

  async stop(): Promise<void> {
    if (this.#frozen) process.kill(this.#child.pid, 'SIGCONT');
    await this.#child.stop();
  }
}
