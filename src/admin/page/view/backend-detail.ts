import { backendLines } from '../../words/explain-backend.ts';
import { figure } from '../../words/figures.ts';
import type { BackendExplanation, DecisionExplanation, GroupExplanation } from '../../explanation.ts';
import type { GroupState } from '../../state-shape.ts';
import { shellWord } from '../shell-word.ts';
import { askAdmin } from './ask-admin.ts';
import { element, Memo, setText } from './dom.ts';

/** Why one backend has its weight: what `/explain` says, asked again after each evaluation while its row is open. */
export class BackendDetail {
  readonly root = element('div', { class: 'reasons' });
  readonly #product = element('p', { class: 'product' });
  readonly #reasons = element('ul');
  readonly #arithmetic = element('ul', { class: 'arithmetic' });
  readonly #note = element('p', { class: 'muted', role: 'status' });
  readonly #memo = new Memo();
  #abort = new AbortController();
  #path: string | undefined;
  #asking = false;
  #askedAt: number | null | undefined;

  constructor() {
    this.root.append(this.#product, this.#reasons, this.#arithmetic, this.#note);
  }

  /** @param backend undefined: no row is open */
  show({ name, evaluatedAt }: GroupState, backend: string | undefined): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#asking = false;
    this.#askedAt = undefined;
    this.#path = backend && `explain/${encodeURIComponent(name)}?backend=${encodeURIComponent(backend)}`;
    this.#tell([], [], '');
    setText(this.#note, 'asking why');
    this.refresh(evaluatedAt);
  }

  /** @param evaluatedAt what is shown is of this moment, and this is to be */
  refresh(evaluatedAt: number | null): void {
    if (this.#path === undefined || this.#asking || this.#askedAt === evaluatedAt) return;
    this.#askedAt = evaluatedAt;
    void this.#ask(this.#path, this.#abort.signal);
  }

  async #ask(path: string, signal: AbortSignal): Promise<void> {
    this.#asking = true;
    const told = await this.#answer(path, signal);
    if (signal.aborted) return;
    this.#asking = false;
    if (typeof told === 'string') setText(this.#note, told);
    else this.#show(told);
  }

  /** A text: why there is none. */
  async #answer(path: string, signal: AbortSignal): Promise<GroupExplanation | string> {
    try {
      const response = await askAdmin(path, signal);
      if (!response.ok) return `the control plane answers ${response.status}`;
      return (await response.json()) as GroupExplanation;
    } catch {
      return 'the control plane does not answer';
    }
  }

  #show({ serverGroup, published, newest }: GroupExplanation): void {
    const [of] = published.decision.backends;
    const [newer] = newest?.decision.backends ?? [];
    if (of === undefined) {
      setText(this.#note, 'it joined after the newest assignment was published');
      return;
    }
    const [, ...sentences] = backendLines(of, published.decision, newer);
    this.#tell(of.reasons, sentences, productWords(of, published.decision));
    const words = [serverGroup, of.backend].map(shellWord).join(' ');
    setText(this.#note, `The same in a terminal: plimsoll explain ${words}`);
  }

  #tell(reasons: readonly string[], sentences: readonly string[], product: string): void {
    this.#memo.update(JSON.stringify([reasons, sentences, product]), () => {
      setText(this.#product, product);
      this.#reasons.replaceChildren(...reasons.map((reason) => element('li', {}, reason)));
      this.#arithmetic.replaceChildren(...sentences.map((sentence) => element('li', {}, sentence)));
    });
  }
}

/** The weight in short, as a product. */
function productWords(
  of: BackendExplanation,
  { meanComputedWeight, weightScale, equalWeights }: DecisionExplanation,
): string {
  if (of.health === null) return 'Not in the assignment: no requests.';
  const { configuredShare, capacity, loadFactor, prompts, computedWeight, weight } = of;
  const beside = prompts === null ? '' : ` × ${figure(prompts.freeRatio)} beside its prompts`;
  const product = equalWeights
    ? `${figure(configuredShare)}, as all of them`
    : `${figure(configuredShare)} configured × ${figure(capacity)} learned capacity × ${figure(loadFactor)} for load${beside}`;
  const computed = `${figure(computedWeight)} / ${figure(meanComputedWeight)} × ${figure(weightScale)}`;
  return `${product} → ${computed} = weight ${figure(weight)}`;
}
