/** error: requests fail or Plimsoll has no effect; warning: they may, or it cannot be told. */
export type Severity = 'ok' | 'warning' | 'error';

/** Where in Envoy's configuration; empty: Envoy as a whole. */
export interface Place {
  readonly cluster?: string;
  readonly listener?: string;
  /** In words: route configuration, virtual host, match. */
  readonly route?: string;
}

/** One thing that was looked at. */
export interface Finding {
  readonly severity: Severity;
  /** What was looked at, a word: mostly the name of the field. */
  readonly check: string;
  readonly place: Place;
  /** What is, as words that go after the name of the check. */
  readonly is: string;
  /** What should be; undefined: it is right. */
  readonly shouldBe?: string;
  /** What comes of it as it is. */
  readonly why?: string;
  readonly mend?: Mend;
}

/** What to put in, in place of what is there under the same names. */
export interface Mend {
  /** The message at the place of the finding that it belongs into; `route`: an entry of `routes`. */
  readonly into: 'cluster' | 'api_config_source' | 'google_grpc' | 'http_connection_manager' | 'route';
  readonly yaml: string;
}

/** What is wrong with something. */
export interface Fault {
  readonly is: string;
  readonly shouldBe?: string;
  readonly why: string;
  readonly mend?: Mend;
}

/** Makes the findings of one check at one place. */
export class Judge {
  readonly #check: string;
  readonly #place: Place;

  constructor(check: string, place: Place) {
    this.#check = check;
    this.#place = place;
  }

  ok(is: string): Finding {
    return this.#finding('ok', { is });
  }

  warning(fault: Fault): Finding {
    return this.#finding('warning', fault);
  }

  error(fault: Fault): Finding {
    return this.#finding('error', fault);
  }

  /** It could not be seen. */
  unknown(why: string): Finding {
    return this.#finding('warning', { is: 'unknown', why });
  }

  /** A field that is set to something that Envoy would not print. */
  unreadable(): Finding {
    return this.unknown('the value is in a form that this command does not know');
  }

  #finding(severity: Severity, fault: Omit<Fault, 'why'> & { readonly why?: string }): Finding {
    return { severity, check: this.#check, place: this.#place, ...fault };
  }
}
