/** What the control plane's metrics page says of one backend; undefined: it says nothing. */
export interface PlaneBackend {
  readonly weight: number | undefined;
  /** Expected share of new requests, 0..1. */
  readonly share: number | undefined;
  /** 0..1, the best of the group is 1. */
  readonly score: number | undefined;
  readonly health: string | undefined;
}

/** What the page says of one server group. */
export interface PlaneGroup {
  /** `balanced`, `kept` or `configured`; undefined: it says nothing. */
  readonly mode: string | undefined;
  /** Share of requests that sidecars are told to refuse, 0..1; undefined: it says nothing. */
  readonly shed: number | undefined;
  readonly backends: ReadonlyMap<string, PlaneBackend>;
}

const SAMPLE = /^(plimsoll_(?:backend|server_group)_[a-z_]+)\{([^}]*)\} (\S+)$/;

/** Reads one server group off the control plane's metrics page. */
export function readPlaneMetrics(page: string, serverGroup: string): PlaneGroup {
  let mode: string | undefined;
  let shed: number | undefined;
  const values = new Map<string, Map<string, number>>();
  const health = new Map<string, string>();
  for (const line of page.split('\n')) {
    const [, name = '', labelText = '', value] = SAMPLE.exec(line) ?? [];
    const labels = readLabels(labelText);
    if (labels.get('server_group') !== serverGroup) continue;
    const backend = labels.get('backend');
    if (name === 'plimsoll_server_group_mode') {
      if (value === '1') mode = labels.get('mode');
    } else if (name === 'plimsoll_server_group_shed_ratio') {
      shed = Number(value);
    } else if (backend !== undefined && name === 'plimsoll_backend_health') {
      if (value === '1') health.set(backend, labels.get('state') ?? '');
    } else if (backend !== undefined) {
      const known = values.get(backend) ?? new Map<string, number>();
      values.set(backend, known.set(name, Number(value)));
    }
  }
  const backends = [...values].map(([backend, of]): [string, PlaneBackend] => [
    backend,
    {
      weight: of.get('plimsoll_backend_weight'),
      share: of.get('plimsoll_backend_share_ratio'),
      score: of.get('plimsoll_backend_score_ratio'),
      health: health.get(backend),
    },
  ]);
  return { mode, shed, backends: new Map(backends) };
}

function readLabels(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}
