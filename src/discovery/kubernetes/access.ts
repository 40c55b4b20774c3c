/** Where the API server is, and what it is shown. */
export interface ApiAccess {
  /** `https://10.96.0.1:443`; its path, if any, comes before those of the API. */
  readonly url: URL;
  /** Authorities in PEM that its certificate must come from; undefined: those that Node brings along. */
  readonly ca: string | undefined;
  /** Our certificate and its key in PEM; both or none. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name that its certificate must have; undefined: the host of the URL. */
  readonly serverName: string | undefined;
  /** Whether any certificate is taken. */
  readonly insecure: boolean;
  /** Sent as `Authorization: Bearer …`. */
  readonly token: string | undefined;
}

/**
 * Reads it anew at each call, since tokens, certificates and authorities change while we run.
 * @param isRefused whether the API server has just refused what this gave last
 * @param signal ends it
 * @throws Error with the reason in words.
 */
export type AccessSource = (isRefused: boolean, signal: AbortSignal) => Promise<ApiAccess>;
