/** Calls back in the next turn of the event loop, after whatever has begun in this one. */
export function inNextTurn(callback: () => void): void {
  setImmediate(callback);
}
