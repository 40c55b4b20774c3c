import { setFlagsFromString } from 'node:v8';

/** Old objects may become four times as many before all of them are looked through. */
const GROWING_PERCENT = 300;

/**
 * Keeps V8 from collecting the whole heap at every push. A push of an assignment of a thousand endpoints to a thousand
 * sidecars copies it for each of them, 30 MB that a short collection frees; V8 counts them with the old objects, and would take
 * its time over all of those each time, as long as the push itself takes. To be called when the process starts.
 */
export function spareOldObjects(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
