import type { XdsObserver } from '../../src/xds/observer.ts';

const ignore = (): void => undefined;

/** Looks at nothing but what `interest` names. */
export function xdsObserver(interest: Partial<XdsObserver> = {}): XdsObserver {
  return {
    streamOpened: ignore,
    identified: ignore,
    streamClosed: ignore,
    sent: ignore,
    acknowledged: ignore,
    rejected: ignore,
    unsubscribed: ignore,
    refused: ignore,
    unknownType: ignore,
    unknownName: ignore,
    ...interest,
  };
}
