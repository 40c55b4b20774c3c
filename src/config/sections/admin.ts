import { domainName, filePath, listen, listOfAtLeastOne, map } from '../fields.ts';

export const ADMIN_LISTEN = '127.0.0.1:9090';

export const admin = map({
  Listen: listen()
    .prefault(ADMIN_LISTEN)
    .describe(
      'IP literal and port of page, health, readiness and metrics; port 0 leaves the choice to the kernel.',
    ),
  Tls: map({
    CertFile: filePath()
      .describe("PEM file with the server's certificate, followed by the intermediate ones.")
      .meta({ examples: ['tls/admin.crt'] }),
    KeyFile: filePath()
      .describe('PEM file with the private key of the certificate, not encrypted.')
      .meta({ examples: ['tls/admin.key'] }),
  })
    .optional()
    .describe('Certificate of the server; it is read again when it changes. Default: no TLS.'),
  BearerTokenFile: filePath()
    .optional()
    .describe(
      'File with a token of 16..4096 visible ASCII characters, read again when it changes. Everything but /healthz and ' +
        '/readyz asks for it: as a bearer token, or as the password of any user, which browsers ask for. Default: none.',
    )
    .meta({ examples: ['tls/admin.token'] }),
  Hosts: listOfAtLeastOne(domainName(), 'domain name')
    .optional()
    .describe(
      'Names that requests may come in under, as in the URL, besides localhost and IP addresses: those of a Service or an ' +
        'ingress. Under another name only /healthz and /readyz answer. Default: none.',
    ),
});
