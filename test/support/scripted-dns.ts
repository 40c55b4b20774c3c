import type { DnsDiscovery } from '../../src/core/model/discovery.ts';
import type { Dns, DnsAnswer, SrvRecord } from '../../src/discovery/dns-client.ts';

export const A: DnsDiscovery = { kind: 'Dns', name: 'vllm.test', type: 'A', port: 8000, resolvers: [] };
export const SRV: DnsDiscovery = {
  kind: 'Dns',
  name: '_http._tcp.vllm.test',
  type: 'SRV',
  port: undefined,
  resolvers: [],
};

/** DNS as a test has it. Names that it does not have do not exist. */
export class ScriptedDns implements Dns {
  /** `A vllm.test` */
  readonly names = new Map<string, DnsAnswer<string>>();
  readonly srv = new Map<string, DnsAnswer<SrvRecord>>();
  /** What was asked for, in the order of its coming. */
  readonly asked: string[] = [];

  /** Addresses of one family, or why there are none. */
  set(type: 'A' | 'AAAA', name: string, addresses: readonly string[] | 'fails', ttlSeconds?: number): void {
    const question = `${type} ${name}`;
    if (addresses === 'fails') this.names.set(question, { kind: 'failed', reason: `${question}: no answer` });
    else if (addresses.length === 0) this.names.set(question, { kind: 'none' });
    else this.names.set(question, { kind: 'records', records: addresses, ttlSeconds });
  }

  /** Records as PRIORITY WEIGHT PORT TARGET. */
  service(name: string, records: readonly string[]): void {
    const list = records.map((record): SrvRecord => {
      const [priority, weight, port, target = ''] = record.split(' ');
      return { priority: Number(priority), weight: Number(weight), port: Number(port), target };
    });
    this.srv.set(name, { kind: 'records', records: list, ttlSeconds: undefined });
  }

  async addresses(name: string, family: 4 | 6): Promise<DnsAnswer<string>> {
    const question = `${family === 4 ? 'A' : 'AAAA'} ${name}`;
    this.asked.push(question);
    return Promise.resolve(this.names.get(question) ?? { kind: 'none' });
  }

  async services(name: string): Promise<DnsAnswer<SrvRecord>> {
    this.asked.push(`SRV ${name}`);
    return Promise.resolve(this.srv.get(name) ?? { kind: 'none' });
  }
}
