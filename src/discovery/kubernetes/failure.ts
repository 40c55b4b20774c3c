import { printable } from '../../runtime/text.ts';
import { numberOf, textOf } from './json.ts';

/**
 * Why a request did not do.
 * - `expired`: what happened since the version that was asked for is not known any more (410)
 * - `unauthorized`: the API server does not take the credentials (401)
 * - `refused`: it answered, and not with what was asked for
 * - `unreachable`: it did not answer
 * - `cut`: it stopped in the middle
 */
export interface ApiFailure {
  readonly kind: 'expired' | 'unauthorized' | 'refused' | 'unreachable' | 'cut';
  /** In words. */
  readonly reason: string;
  /** How long the server asks to wait, ms. */
  readonly retryAfterMs?: number | undefined;
}

/** A resource of the API, for requests and for words. */
export interface Resource {
  /** `''`: the core group. */
  readonly group: string;
  readonly version: string;
  /** `endpointslices` */
  readonly plural: string;
  readonly namespace: string;
}

export function pathOf({ group, version, plural, namespace }: Resource): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

/** `endpointslices.discovery.k8s.io in namespace prod` */
export function inWords({ group, plural, namespace }: Resource): string {
  return `${plural}${group === '' ? '' : `.${group}`} in namespace ${namespace}`;
}

/**
 * @param verb what was asked for
 * @param status of HTTP, or of the `Status` object of a watch
 * @param body a `Status` object when it comes from the API server itself
 */
export function failureOf(
  verb: 'list' | 'watch',
  resource: Resource,
  status: number,
  body: unknown,
): ApiFailure {
  const said = printable(textOf(body, 'message') ?? '', 300);
  const what = inWords(resource);
  const retryAfterSeconds = numberOf(body, 'details', 'retryAfterSeconds');
  const retryAfterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  const refused = (reason: string): ApiFailure => ({ kind: 'refused', reason, retryAfterMs });
  switch (status) {
    case 401:
      return {
        kind: 'unauthorized',
        reason: `cannot ${verb} ${what}: the API server does not accept the credentials (401): the token or certificate has expired, or is another cluster's`,
      };
    case 403:
      return refused(`may not ${verb} ${what} (403): ${remedy(resource, said)}`);
    case 404:
      return refused(
        `cannot ${verb} ${what}: the API server does not serve ${resource.group || 'the core API'}/${resource.version} (404)${hint(resource)}`,
      );
    case 410:
      return { kind: 'expired', reason: `cannot ${verb} ${what}: the version is too old (410)` };
    default:
      return refused(
        `cannot ${verb} ${what}: the API server answers ${status}${said === '' ? '' : `: ${said}`}`,
      );
  }
}

/** @param what the API server answers that it should not: `something that is no JSON` */
export function oddAnswer(verb: 'list' | 'watch', resource: Resource, what: string): ApiFailure {
  return { kind: 'refused', reason: `cannot ${verb} ${inWords(resource)}: the API server answers ${what}` };
}

/** What has to be granted, and to whom, as far as the server says. */
function remedy({ group, plural, namespace }: Resource, said: string): string {
  const user = /^.*?User "([^"]+)"/.exec(said)?.[1];
  const rule = `apiGroups ["${group}"], resources [${plural}], verbs [list, watch]`;
  return `a Role in namespace ${namespace} must grant ${rule} to ${user ?? 'the account that Plimsoll runs as'}`;
}

function hint({ group }: Resource): string {
  return group === 'inference.networking.k8s.io'
    ? '; install the CustomResourceDefinitions of the Gateway API inference extension, v1.0 or newer'
    : '';
}
