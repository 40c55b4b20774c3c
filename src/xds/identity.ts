/** Who a client is: one name of its certificate, after the certificate has been verified. */
export interface Identity {
  readonly kind: 'uri' | 'dns';
  /** A DNS name in lower case, a URI as it is. */
  readonly name: string;
}

const NAMES = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;

/**
 * The URIs and DNS names of a certificate, in its order.
 * @param subjectAltName as Node writes it: `URI:spiffe://cluster.local/ns/llama, DNS:one.example`, a name with unusual
 * characters as a JSON string. What is not of this form as a whole has no identity at all.
 */
export function identitiesOf(subjectAltName: string): readonly Identity[] {
  const identities: Identity[] = [];
  let end = 0;
  for (NAMES.lastIndex = 0; end < subjectAltName.length; end = NAMES.lastIndex) {
    const match = NAMES.exec(subjectAltName);
    const name = unquote(match?.[2] ?? '');
    if (match === null || name === undefined) return [];
    if (match[1] === 'URI') identities.push({ kind: 'uri', name });
    else if (match[1] === 'DNS') identities.push({ kind: 'dns', name: name.toLowerCase() });
  }
  return identities;
}

function unquote(text: string): string | undefined {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}
