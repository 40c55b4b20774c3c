import { age } from '../cells.ts';
import type { Connection } from '../connection.ts';
import type { ServerEvent } from '../event-parser.ts';
import { type KeyAction, type KeyFocus, keyAction } from '../keys.ts';
import { mergeChange } from '../merge-change.ts';
import type { GroupState, State, StateChange } from '../../state-shape.ts';
import { EventFollower } from './event-follower.ts';
import { BackendDetail } from './backend-detail.ts';
import { BackendTable } from './backend-table.ts';
import { ChartsView } from './charts-view.ts';
import { ConfigurationView } from './configuration-view.ts';
import { ConnectionView } from './connection-view.ts';
import { byId, setText } from './dom.ts';
import { FiguresView } from './figures-view.ts';
import { OverviewView } from './overview-view.ts';
import { SidecarsView } from './sidecars-view.ts';
import { ThemeSwitch } from './theme.ts';
import { TrendsFollower } from './trends-follower.ts';
import { WarningsView } from './warnings-view.ts';

/** What came last, and when, by the browser's steady clock and by its clock of the day. */
interface Known {
  readonly state: State;
  readonly atMs: number;
  readonly atUnixMs: number;
}

/** The live page: one stream of events in, everything that is seen out. */
class Page {
  readonly #main = byId('main', HTMLElement);
  readonly #help = byId('help', HTMLDialogElement);
  readonly #detail = new BackendDetail();
  readonly #table = new BackendTable(byId('backends', HTMLElement), this.#detail.root, (backend) => {
    const group = this.#group();
    if (group !== undefined) this.#detail.show(group, backend);
  });
  readonly #trends = new TrendsFollower((trends) => {
    if (trends?.serverGroup === this.#group()?.name) this.#table.trends = trends;
  });
  readonly #charts = new ChartsView(byId('charts', HTMLElement));
  readonly #warnings = new WarningsView(byId('warnings', HTMLElement), showGroup);
  readonly #overview = new OverviewView(byId('overview', HTMLElement), showGroup);
  readonly #figures = new FiguresView(
    byId('group-name', HTMLElement),
    byId('group-mode', HTMLElement),
    byId('figures', HTMLElement),
  );
  readonly #sidecars = new SidecarsView(
    byId('sidecars-note', HTMLElement),
    byId('sidecars-table', HTMLElement),
  );
  readonly #configuration = new ConfigurationView(
    byId('configuration-note', HTMLElement),
    byId('configuration-body', HTMLElement),
  );
  readonly #connectionView = new ConnectionView();
  readonly #follower: EventFollower;
  #connection: Connection = { kind: 'connecting' };
  #known: Known | undefined;
  #frame = 0;

  constructor() {
    this.#follower = new EventFollower(
      (event) => this.#take(event),
      (connection) => this.#connect(connection),
    );
    new ThemeSwitch(byId('theme', HTMLElement), () => this.#charts.redraw());
    byId('help-button', HTMLElement).addEventListener('click', () => this.#help.showModal());
    window.addEventListener('hashchange', () => this.#soon());
    document.addEventListener('keydown', (event) => this.#key(event));
    setText(byId('zone', HTMLElement), `Times are in ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`);
  }

  run(): void {
    setInterval(() => this.#soon(), 1000);
    void this.#follower.run();
  }

  #connect(connection: Connection): void {
    this.#connection = connection;
    this.#connectionView.connection = connection;
    this.#soon();
  }

  #take({ name, data }: ServerEvent): void {
    const before = this.#known?.state;
    if (name === 'state') {
      const state = JSON.parse(data) as State;
      // the page of another version may not fit what this one tells
      if (before !== undefined && before.build.version !== state.build.version) location.reload();
      this.#know(state);
    } else if (name === 'change' && before !== undefined) {
      this.#know(mergeChange(before, JSON.parse(data) as StateChange));
    }
  }

  #know(state: State): void {
    this.#known = { state, atMs: performance.now(), atUnixMs: Date.now() };
    this.#soon();
  }

  /** Draws once, however much comes until the browser draws. */
  #soon(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#render());
  }

  #render(): void {
    this.#frame = 0;
    this.#connectionView.render(this.#known?.atUnixMs);
    this.#main.hidden = this.#known === undefined;
    if (this.#known === undefined) return;
    const { state, atMs } = this.#known;
    const now = state.now + (this.#connection.kind === 'live' ? performance.now() - atMs : 0);
    const group = this.#group();
    setText(byId('build', HTMLElement), buildWords(state, now));
    this.#warnings.render(state);
    this.#overview.render(state, group?.name ?? '');
    this.#sidecars.render(state.sidecars, now);
    this.#configuration.render(state.configuration);
    byId('group', HTMLElement).hidden = group === undefined;
    if (group !== undefined) this.#renderGroup(group, state, now);
  }

  #renderGroup(group: GroupState, { instance, sidecars }: State, now: number): void {
    document.title = `${group.warnings.length > 0 ? '⚠ ' : ''}${group.name} · Plimsoll`;
    this.#figures.render(group, sidecars, now);
    this.#charts.render(group, now);
    this.#table.render(group, now);
    this.#detail.refresh(group.evaluatedAt);
    this.#trends.follow(group.name, instance, group.membership);
  }

  /** The one that the address names, else the first. */
  #group(): GroupState | undefined {
    const groups = this.#known?.state.groups ?? [];
    return groups.find(({ name }) => name === groupInAddress()) ?? groups[0];
  }

  #key(event: KeyboardEvent): void {
    if (this.#help.open || this.#known === undefined) return;
    const action = keyAction(event, focusOf(event.target, this.#table));
    if (action === undefined) return;
    event.preventDefault();
    this.#act(action);
  }

  #act(action: KeyAction): void {
    switch (action) {
      case 'filter':
        this.#table.field.focus();
        break;
      case 'next':
        this.#table.move(1);
        break;
      case 'previous':
        this.#table.move(-1);
        break;
      case 'first':
        this.#table.move(Number.NEGATIVE_INFINITY);
        break;
      case 'last':
        this.#table.move(Number.POSITIVE_INFINITY);
        break;
      case 'open':
        this.#table.toggle();
        break;
      case 'close':
        this.#table.close();
        break;
      case 'help':
        this.#help.showModal();
        break;
    }
  }
}

function buildWords({ build, ready, startedAt }: State, now: number): string {
  return `${build.version} at ${location.host}, up ${age((now - startedAt) / 1000)}${ready ? '' : ', not ready'}`;
}

function showGroup(name: string): void {
  location.hash = `/${encodeURIComponent(name)}`;
}

function groupInAddress(): string | undefined {
  try {
    return decodeURIComponent(location.hash.slice(2));
  } catch {
    return undefined;
  }
}

function focusOf(target: EventTarget | null, table: BackendTable): KeyFocus {
  if (target === table.field) return 'filter';
  return table.hasFocus || target === document.body ? 'table' : 'control';
}

new Page().run();
