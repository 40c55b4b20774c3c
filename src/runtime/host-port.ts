/** `10.0.3.11:8000`, `[2001:db8::1]:8000`, `plimsoll.example:8000` */
export function formatHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
