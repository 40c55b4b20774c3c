import type { GroupExplanation } from '../admin/explanation.ts';
import { nearest } from '../config/nearest.ts';
import { EXIT } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { type AdminFlags, readAccess } from './admin-access.ts';
import { withHint } from './admin-hint.ts';
import { type AdminAnswer, askAdmin, errorIn } from './ask-admin.ts';
import { explainText } from './explain-text.ts';
import { namesIn, wrongInExplanation } from './explanation-shape.ts';

export interface ExplainOptions extends AdminFlags {
  /** The server group. */
  readonly group: string;
  /** `ADDRESS:PORT`, or an address for all its ports; undefined: every backend. */
  readonly backend: string | undefined;
  readonly json: boolean;
  readonly color: boolean;
  /** Of the terminal; undefined: there is none. */
  readonly columns: number | undefined;
}

const NAMES_SHOWN = 10;

/**
 * Prints why each weight of a server group is what it is.
 * @returns the exit code: `usage` when there is no such group or backend, `failed` when the control plane does not say.
 */
export async function explain(
  options: ExplainOptions,
  io: { readonly out: (text: string) => void; readonly err: (text: string) => void },
): Promise<number> {
  const reading = await readAccess(options);
  if (reading.kind === 'bad') {
    io.err(`plimsoll explain: ${reading.reason}\n`);
    return EXIT.usage;
  }
  const answer = await askAdmin(reading.access, pathOf(options));
  const read = readAnswer(answer, options);
  if (read.kind === 'explained') {
    io.out(
      options.json
        ? `${JSON.stringify(read.explanation, null, 2)}\n`
        : explainText(read.explanation, {
            full: options.backend !== undefined,
            color: options.color,
            columns: options.columns,
          }),
    );
    return EXIT.ok;
  }
  io.err(`plimsoll explain: ${read.reason}\n`);
  return read.exit;
}

type Read =
  | { readonly kind: 'explained'; readonly explanation: GroupExplanation }
  | { readonly kind: 'refused'; readonly reason: string; readonly exit: number };

function pathOf({ group, backend }: ExplainOptions): string {
  const query = backend === undefined ? '' : `?backend=${encodeURIComponent(backend)}`;
  return `/explain/${encodeURIComponent(group)}${query}`;
}

function readAnswer(answer: AdminAnswer, options: ExplainOptions): Read {
  const admin = printable(options.admin);
  const failed = (reason: string): Read => ({ kind: 'refused', reason, exit: EXIT.failed });
  if (answer.kind === 'unreachable') {
    return failed(`${admin} cannot be asked: ${withHint(answer.reason, answer.hint)}`);
  }
  const { status, body } = answer;
  if (status === 404) {
    const reason = unknownName(body, options);
    if (reason !== undefined) return { kind: 'refused', reason, exit: EXIT.usage };
  }
  if (status !== 200) return failed(`${admin} answered ${status}: ${errorIn(answer)}`);
  const wrong = wrongInExplanation(body);
  if (wrong === undefined) return { kind: 'explained', explanation: body as GroupExplanation };
  return failed(
    `${admin} answered something else than an explanation (${wrong}): is it a Plimsoll like this?`,
  );
}

/** @returns undefined: it is not we who said 404 */
function unknownName(body: unknown, { group, backend }: ExplainOptions): string | undefined {
  const groups = namesIn(body, 'serverGroups');
  if (groups.length > 0) return `there is no server group ${printable(group)}${hint(group, groups)}`;
  const backends = namesIn(body, 'backends');
  if (backends.length === 0 || backend === undefined) return undefined;
  return `server group ${printable(group)} has no backend ${printable(backend)}${hint(backend, backends)}`;
}

function hint(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  const more = known.length - NAMES_SHOWN;
  const list = known.slice(0, NAMES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return near === undefined ? `; there are: ${list}` : `, did you mean ${near}? There are: ${list}`;
}
