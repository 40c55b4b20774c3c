/** By command: what to type, and what it is for. */
const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, purpose: string])[]>> = {
  serve: [
    ['plimsoll serve --config plimsoll.yaml', 'run it in front of your servers'],
    ['plimsoll serve --config plimsoll.yaml 2> plimsoll.log', 'with the log in a file, as JSON'],
    ['kill -USR2 PID', 'make its log tell more (debug), and at the next one as much as before'],
    ['kill -HUP PID', 'read the file at once; a change of it is taken by itself'],
  ],
  validate: [
    ['plimsoll validate --config plimsoll.yaml', 'every mistake, or the file with all defaults'],
    [
      'plimsoll validate --config plimsoll.yaml --no-files',
      'where the certificates and tokens that it names are not: in a pipeline',
    ],
    ['plimsoll validate --config plimsoll.yaml --json | jq .mistakes', 'the mistakes for a program'],
  ],
  bootstrap: [
    ['plimsoll bootstrap --config plimsoll.yaml > envoy.yaml', 'a sidecar that gets everything from here'],
    [
      'plimsoll bootstrap --config plimsoll.yaml --mode eds --group llama > envoy.yaml',
      'only the endpoints come from here',
    ],
    [
      'plimsoll bootstrap --config plimsoll.yaml --xds 10.0.0.5:18000 --ca tls/ca.crt --cert tls/sidecar.crt --key tls/sidecar.key > envoy.yaml',
      'on another machine, with TLS',
    ],
    [
      'plimsoll bootstrap --config plimsoll.yaml --xds 10.0.0.5:18000 --xds 10.0.0.6:18000 > envoy.yaml',
      'with two replicas of Plimsoll',
    ],
  ],
  explain: [
    ['plimsoll explain llama', 'why each weight of the group is what it is'],
    ['plimsoll explain llama 10.0.3.11:8000', 'of one backend, with its arithmetic'],
    ['plimsoll explain llama --json | jq .published', 'for a program'],
  ],
  top: [
    ['plimsoll top', 'live; ? shows the keys'],
    ['plimsoll top --once', 'print it once'],
    [
      'plimsoll top --json | jq \'.groups[].backends[] | select(.health != "HEALTHY")\'',
      'the backends that are not healthy',
    ],
  ],
  doctor: [
    ['plimsoll doctor --envoy-admin http://127.0.0.1:9901', 'what is right and wrong about a running Envoy'],
  ],
  probe: [
    [
      'plimsoll probe http://10.0.3.11:8000',
      'what is on the metrics page of a backend, and what to configure',
    ],
    [
      'plimsoll probe https://10.0.3.11:8443/metrics --ca tls/ca.crt --bearer-token-file metrics.token',
      'over https, with a token',
    ],
  ],
  record: [
    ['plimsoll record --for 1h fleet.jsonl.gz', 'what the fleet does for an hour'],
    [
      'plimsoll record --admin https://10.0.0.5:9090 --ca tls/ca.crt --bearer-token-file tls/admin.token fleet.jsonl.gz',
      'from another machine',
    ],
  ],
  replay: [
    [
      'plimsoll replay fleet.jsonl.gz --config new.yaml',
      'what another configuration would have made of it, beside what was',
    ],
    [
      'plimsoll replay fleet.jsonl.gz --config new.yaml --group llama --picture replay.svg',
      'of one group, with its course as a picture',
    ],
    [
      "plimsoll replay fleet.jsonl.gz --config new.yaml --json | jq '.groups[].movedShareRatio'",
      'for a program',
    ],
  ],
  demo: [
    ['plimsoll demo', 'five acts, about two minutes'],
    ['plimsoll demo --keep', 'stay up afterwards, to look at the page and top'],
    ['plimsoll demo --backends 8 --seed 2 --json > demo.json', 'a larger fleet, the result for a program'],
  ],
  completion: [
    ['source <(plimsoll completion bash)', 'complete in this bash; put it into ~/.bashrc for every one'],
    ['source <(plimsoll completion zsh)', 'complete in this zsh, after compinit; or into ~/.zshrc'],
  ],
};

/** The end of a command's help; empty: it has no examples. */
export function examplesOf(command: string): string {
  const examples = EXAMPLES[command] ?? [];
  if (examples.length === 0) return '';
  return `\nExamples:\n${examples.map(([line, purpose]) => `  # ${purpose}\n  ${line}\n`).join('')}`;
}
