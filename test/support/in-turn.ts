/** Lines that wait for their turn. */
export class InTurn {
  readonly turn: Promise<unknown>;
  readonly #print: (line: string) => void;
  #waiting: string[] | undefined = [];

  constructor(turn: Promise<unknown>, print: (line: string) => void) {
    this.turn = turn;
    this.#print = print;
    void turn.then(() => {
      for (const line of this.#waiting ?? []) print(line);
      this.#waiting = undefined;
    });
  }

  line(text: string): void {
    if (this.#waiting === undefined) this.#print(text);
    else this.#waiting.push(text);
  }
}
