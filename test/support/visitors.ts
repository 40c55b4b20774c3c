import type { Socket } from 'node:net';

/** What a test has open towards a server of its own: all of it goes at once. */
export class Visitors {
  readonly #visitors: ({ close: () => void } | Socket)[] = [];

  keep<T extends { close: () => void } | Socket>(visitor: T): T {
    this.#visitors.push(visitor);
    return visitor;
  }

  leave(): void {
    for (const visitor of this.#visitors) {
      if ('close' in visitor) visitor.close();
      else visitor.destroy();
    }
    this.#visitors.length = 0;
  }
}
