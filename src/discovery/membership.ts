import type { Backend, BackendId } from '../core/model/backend.ts';
import type { BackendDeparture } from '../core/model/discovery.ts';
import { byAddressThenPort, isSameBackend } from './found-backends.ts';
import { type Absence, bounded, type Member } from './members.ts';

/** How long a list has to stand that lacks most of what was known, before it is believed. */
export const DOUBT_MS = 60_000;

/**
 * `configured`: an operator's, whose order stands; `first`: the first one of a source. Both are believed whatever they
 * lack. `found`: a later one.
 */
export type ListOrigin = 'configured' | 'first' | 'found';

/**
 * Who belongs to a group, from one complete list of its source to the next. Who left is draining for a while, and then
 * gone. A list that lacks more than half of those who were there is doubted, as an empty one is: an outage of a source
 * looks like that. Who is missing in it stays until it has stood for a minute, and who is new in it joins at once. What
 * the source says of a backend itself, as that it drains, is believed. But when nobody else takes requests, those of which
 * it says so and that it still tells do, as kube-proxy has it: they answer, and a sidecar without them would refuse all.
 */
export class Membership {
  #drainMs: number;
  #members: ReadonlyMap<BackendId, Member> = new Map();
  /** Who was there when the doubt began and has not left since; undefined: there is no doubt. */
  #doubtedFrom: ReadonlySet<BackendId> | undefined;
  #origin: ListOrigin = 'configured';
  #failing = false;
  #servers: readonly Backend[] = [];
  #isLastResort = false;

  /** @param drainSeconds how long those that leave are draining */
  constructor(drainSeconds: number) {
    this.#drainMs = 1000 * drainSeconds;
  }

  /** From now on those that leave are draining for so long. */
  drainFor(seconds: number): void {
    this.#drainMs = 1000 * seconds;
  }

  /** Those that are there, doubted and draining ones included: the same list while nothing is another. */
  get servers(): readonly Backend[] {
    return this.#servers;
  }

  /** Whether those take requests of which their source says that they drain, as there is nobody else. */
  get isLastResort(): boolean {
    return this.#isLastResort;
  }

  get doubted(): readonly BackendDeparture[] {
    return this.#departures(({ absence }) => {
      if (absence?.kind !== 'doubted') return undefined;
      return { atMs: this.#failing ? undefined : absence.sinceMs + DOUBT_MS };
    });
  }

  get draining(): readonly BackendDeparture[] {
    return this.#departures(({ absence, drainingSinceMs }) => {
      if (absence?.kind === 'leaving') return { atMs: absence.untilMs };
      return drainingSinceMs === undefined || this.#isLastResort ? undefined : { atMs: undefined };
    });
  }

  /**
   * Takes a complete list.
   * @param list none twice
   */
  take(list: readonly Backend[], nowMs: number, origin: ListOrigin): void {
    const listed = new Map(list.map((backend) => [backend.id, backend]));
    const isDoubtful = origin === 'found' && this.#lacksMost(listed);
    this.#origin = origin;
    const standsAnew = this.#failing;
    this.#failing = false;
    const members = new Map<BackendId, Member>(
      list.map((backend) => [backend.id, present(backend, this.#members.get(backend.id), nowMs)]),
    );
    for (const [id, member] of this.#members) {
      if (listed.has(id)) continue;
      const absent = this.#absent(member, nowMs, isDoubtful, standsAnew);
      if (absent !== undefined) members.set(id, absent);
    }
    this.#doubtedFrom = isDoubtful ? (this.#doubtedFrom ?? this.#known()) : undefined;
    this.#members = bounded(members);
    this.#refresh();
  }

  /**
   * The source cannot be read, or is another one that has told nothing yet: what was told last has not stood any longer
   * when it can be again.
   */
  failed(): void {
    this.#failing = true;
  }

  /** Lets go whose time has come. */
  tick(nowMs: number): void {
    const members = new Map(this.#members);
    const doubtedFrom = new Set(this.#doubtedFrom);
    for (const [id, member] of this.#members) {
      const { absence } = member;
      if (absence?.kind === 'leaving' && absence.untilMs <= nowMs) members.delete(id);
      if (absence?.kind !== 'doubted' || this.#failing || absence.sinceMs + DOUBT_MS > nowMs) continue;
      members.set(id, this.#leaving(member, nowMs));
      doubtedFrom.delete(id);
    }
    this.#members = members;
    if (this.#doubtedFrom !== undefined) this.#doubtedFrom = doubtedFrom;
    this.#refresh();
  }

  /** When {@link tick} is due; undefined: it is not. */
  get dueMs(): number | undefined {
    let dueMs: number | undefined;
    for (const { absence } of this.#members.values()) {
      const ownMs = this.#dueMs(absence);
      if (ownMs !== undefined && !(dueMs !== undefined && dueMs <= ownMs)) dueMs = ownMs;
    }
    return dueMs;
  }

  #dueMs(absence: Absence | undefined): number | undefined {
    switch (absence?.kind) {
      case undefined:
        return undefined;
      case 'leaving':
        return absence.untilMs;
      case 'doubted':
        return this.#failing ? undefined : absence.sinceMs + DOUBT_MS;
    }
  }

  /** Whether more than half of those who were there are missing, or the list is empty. */
  #lacksMost(listed: ReadonlyMap<BackendId, Backend>): boolean {
    const known = this.#doubtedFrom ?? this.#known();
    if (known.size === 0) return false;
    let missing = 0;
    for (const id of known) if (!listed.has(id)) missing++;
    return listed.size === 0 || 2 * missing > known.size;
  }

  /** Who is there, without those of which it is known that they go. */
  #known(): ReadonlySet<BackendId> {
    const known = [...this.#members.values()].filter(
      ({ absence, drainingSinceMs }) => absence?.kind !== 'leaving' && drainingSinceMs === undefined,
    );
    return new Set(known.map(({ backend }) => backend.id));
  }

  /** undefined: it is gone. */
  #absent(member: Member, nowMs: number, isDoubtful: boolean, standsAnew: boolean): Member | undefined {
    const { absence, drainingSinceMs } = member;
    if (absence?.kind === 'leaving') return absence.untilMs <= nowMs ? undefined : member;
    if (drainingSinceMs === undefined && isDoubtful) {
      const sinceMs = absence === undefined || standsAnew ? nowMs : absence.sinceMs;
      return { ...member, absence: { kind: 'doubted', sinceMs } };
    }
    const leaving = this.#leaving(member, nowMs);
    return leaving.absence.untilMs <= nowMs ? undefined : leaving;
  }

  /** It drains since its source said so. */
  #leaving(
    member: Member,
    nowMs: number,
  ): Member & { readonly absence: Absence & { readonly kind: 'leaving' } } {
    const sinceMs = member.drainingSinceMs ?? nowMs;
    const backend = { ...member.backend, draining: true };
    return {
      backend,
      drainingSinceMs: sinceMs,
      absence: { kind: 'leaving', untilMs: sinceMs + this.#drainMs },
    };
  }

  #departures(
    of: (member: Member) => { readonly atMs: number | undefined } | undefined,
  ): readonly BackendDeparture[] {
    return [...this.#members.values()].flatMap((member) => {
      const departure = of(member);
      return departure === undefined ? [] : { id: member.backend.id, ...departure };
    });
  }

  #refresh(): void {
    const members = [...this.#members.values()];
    this.#isLastResort = !members.some(({ backend }) => takesRequests(backend)) && members.some(canStay);
    const servers = members.map((member) =>
      this.#isLastResort && canStay(member) ? staying(member.backend) : member.backend,
    );
    if (this.#origin !== 'configured') servers.sort(byAddressThenPort);
    const isSame =
      servers.length === this.#servers.length &&
      servers.every((server, index) => {
        const before = this.#servers[index];
        return before !== undefined && isSameBackend(server, before);
      });
    if (!isSame) this.#servers = servers;
  }
}

function present(backend: Backend, before: Member | undefined, nowMs: number): Member {
  const drainingSinceMs = backend.draining === true ? (before?.drainingSinceMs ?? nowMs) : undefined;
  return { backend, drainingSinceMs, absence: undefined };
}

function takesRequests({ weight, draining }: Backend): boolean {
  return weight > 0 && draining !== true;
}

/** Whether its source says that it drains, and still tells it. */
function canStay({ backend, drainingSinceMs, absence }: Member): boolean {
  return backend.weight > 0 && drainingSinceMs !== undefined && absence === undefined;
}

function staying(backend: Backend): Backend {
  const { draining: _draining, ...rest } = backend;
  return rest;
}
