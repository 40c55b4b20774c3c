import { fieldOf, isPort, listOf, numberOf } from './json.ts';

/** What is needed of an InferencePool. */
export type KeptPool =
  | { readonly kind: 'pool'; readonly labelSelector: string; readonly ports: readonly number[] }
  /** The reason is the end of a sentence. */
  | { readonly kind: 'bad'; readonly reason: string };

/**
 * `spec.selector.matchLabels` and `spec.targetPorts`.
 *
 * https://gateway-api-inference-extension.sigs.k8s.io/reference/spec/#inferencepoolspec
 */
export function keepPool(object: unknown): KeptPool {
  const matchLabels = fieldOf(object, 'spec', 'selector', 'matchLabels');
  const labels = typeof matchLabels === 'object' && matchLabels !== null ? Object.entries(matchLabels) : [];
  // without labels every pod of the namespace would be selected
  if (labels.length === 0 || !labels.every(isLabel)) {
    return { kind: 'bad', reason: 'has no selector.matchLabels that can be used' };
  }
  const ports = listOf(object, 'spec', 'targetPorts').map((port) => numberOf(port, 'number'));
  if (ports.length === 0 || !ports.every(isPort)) {
    return { kind: 'bad', reason: 'has no targetPorts that can be used' };
  }
  return {
    kind: 'pool',
    labelSelector: labels
      .map((label) => label.join('='))
      .toSorted()
      .join(','),
    ports,
  };
}

function isLabel(label: readonly [string, unknown]): label is [string, string] {
  const [key, value] = label;
  return /^[\w./-]{1,317}$/.test(key) && typeof value === 'string' && /^[\w.-]{0,63}$/.test(value);
}
