import { describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import {
  created,
  type Fragment,
  fieldErrors,
  onCreate,
  type ReportedError,
  type Row,
  replaced,
  sorted,
} from '../testing/kind.ts';
import { duplicate, forbidden, invalid, missing, says, unsupported } from '../testing/messages.ts';
import { certificateSigningRequests } from './certificate-signing-requests.ts';
import { validateSigner } from './certificate-signing-requests.validation.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const pem = (type: string, der: Buffer) =>
  base64(`-----BEGIN ${type}-----\n${der.toString('base64')}\n-----END ${type}-----\n`);
// Written by openssl: `req -new -subj /CN=x -outform DER`, with keys of several kinds.
const signed = {
  ecdsa:
    'MIHGMG4CAQAwDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCegjmWZe+IruiFEjp9NxYCGBcl2y8yCJSNPBPxqdanejFf+ZKW4nnw4n5+GWNth5CK+rlBBS+KZM1FU7mvamxGgADAKBggqhkjOPQQDAgNIADBFAiBeNeARL2YziVkDsa7pnE8bha/TMFI/FQYyi4osOtLf5QIhAMP6LHsxEAKTFADsmsv2B4GKa7C/W/yG8YrTdAtd2L4a',
  ed25519:
    'MIGLMD8CAQAwDDEKMAgGA1UEAwwBeDAqMAUGAytlcAMhAF7TgBuPTX/rJN90ZINhPwe5tDf1xmvjqSG0GkC7cxq/oAAwBQYDK2VwA0EAOrfNzqptenHuzsEFH2TpzNnOHIcpbb9rlWxJiSH/qJU/6W9p0zl4DefLVn4tkdS+02DtjSMTtKG3eIj1Q61ZBg==',
  rsa: 'MIIBSzCBtQIBADAMMQowCAYDVQQDDAF4MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDohZj6ICKX8Cnffkvcbd2ZLCFARCta6H+l4dsD+Gc6SwhwFweDWH8SMA8JSt6rvk6HhN+vVfMM1hJhrafGfEdVEyBq7XCjbkAmCeQLPbiylgWxL6pZaxpVeXG2cybpQ+UIfJs0YXcYe6RXbzwfF8RzhwfpG643QCwlYOjMcEFBgwIDAQABoAAwDQYJKoZIhvcNAQELBQADgYEAjI9059WgokgC4Nh2Wwv0mUziP7Zv0rauYw4DpN+srANrHyqNFYY9JNCGNz7JXli1RaI+O1nWCeSgpfl+tFISdM2zjPn/p7wUjWzVeCnImYgmwRruv4PrmBJiS11A7U6tymxs8rDnH/pEL9LxGRmO1dv2lRLDTrQgiy1HkvwjgLs=',
  pss: 'MIIBfzCBtQIBADAMMQowCAYDVQQDDAF4MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDohZj6ICKX8Cnffkvcbd2ZLCFARCta6H+l4dsD+Gc6SwhwFweDWH8SMA8JSt6rvk6HhN+vVfMM1hJhrafGfEdVEyBq7XCjbkAmCeQLPbiylgWxL6pZaxpVeXG2cybpQ+UIfJs0YXcYe6RXbzwfF8RzhwfpG643QCwlYOjMcEFBgwIDAQABoAAwQQYJKoZIhvcNAQEKMDSgDzANBglghkgBZQMEAgEFAKEcMBoGCSqGSIb3DQEBCDANBglghkgBZQMEAgEFAKIDAgFeA4GBAN4fU4b5dyxHmVYm1cItrUPr2s8v1XTKLrjS9L+s9KdXWs9biEnRg/aOOvmgijAzQw0pzSsrxZ52r11YtrtLLB9/QHVOSM7F0N3hLQcrsYnFzbsof/71scZpqoIof6DW3XIgVxHTM8GziMLj3Qa1npoDWaW/Oj1IZWx/b3H2yeI5',
};
const ofEcdsa = Buffer.from(signed.ecdsa, 'base64');
const request = pem('CERTIFICATE REQUEST', ofEcdsa);
// The same with `req -new -x509`.
const certificate = pem(
  'CERTIFICATE',
  Buffer.from(
    'MIIBcDCCARWgAwIBAgIUXHZ6K4AjZBm7rHaf9ffmj88Xa6UwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBeDAgFw0yNjExMjIwMDMxNDJaGA8yMTI2MTAyOTAwMzE0MlowDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCegjmWZe+IruiFEjp9NxYCGBcl2y8yCJSNPBPxqdanejFf+ZKW4nnw4n5+GWNth5CK+rlBBS+KZM1FU7mvamxGjUzBRMB0GA1UdDgQWBBQSLYjgtjnayh9sV+G14cPKMCgACTAfBgNVHSMEGDAWgBQSLYjgtjnayh9sV+G14cPKMCgACTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDEkZnl8FGnw8J9caS0sE7ugV3nAWr5h/yYmNmVcG7QDgIhAJ2DToVglly+ot0T5SEtfAX7129xopa440GpYZf/oW30',
    'base64',
  ),
);
/** The request with one byte of its signature changed. */
const forged = pem(
  'CERTIFICATE REQUEST',
  Buffer.from(ofEcdsa.map((byte, i) => (i === ofEcdsa.length - 1 ? byte ^ 1 : byte))),
);
const asks = (more: Fragment): Fragment => ({
  spec: { request, signerName: 'example.com/s', usages: ['client auth'], ...more },
});
const noPem = 'PEM block type must be CERTIFICATE REQUEST';
const usages = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment'],
  ...['decipher only', 'digital signature', 'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel'],
  ...['ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing', 's/mime'],
  ...['server auth', 'signing', 'timestamping'],
];

const rows: readonly Row[] = [
  ['a valid request', asks({})],
  ['no PEM', asks({ request: 'eA==' }), ['spec.request', 'Invalid', invalid('eA==', noPem)]],
  [
    'another PEM block',
    asks({ request: pem('CERTIFICATE', Buffer.from([0x30, 0])) }),
    ['spec.request', 'Invalid', invalid(pem('CERTIFICATE', Buffer.from([0x30, 0])), noPem)],
  ],
  ...['text\n', '\n'].map((before): Row => {
    const text = base64(before + Buffer.from(request, 'base64').toString());
    const why = 'must be one CERTIFICATE REQUEST PEM block and nothing around it';
    return [
      `${JSON.stringify(before)} before the block`,
      asks({ request: text }),
      ...(before === '\n' ? [] : ([['spec.request', 'Invalid', invalid(text, why)]] as const)),
    ];
  }),
  [
    'an empty PEM block',
    asks({ request: pem('CERTIFICATE REQUEST', Buffer.from('x')) }),
    [
      'spec.request',
      'Invalid',
      invalid(
        pem('CERTIFICATE REQUEST', Buffer.from('x')),
        'asn1: structure error: the block holds no certificate request',
      ),
    ],
  ],
  [
    'signed by another key',
    asks({ request: forged }),
    ['spec.request', 'Invalid', invalid(forged, 'x509: the signature does not fit the key')],
  ],
  [
    'missing request, signer and usages',
    { spec: { request: '', signerName: 'nope', usages: ['client auth', 'client auth', 'odd'] } },
    ['spec.request', 'Invalid', invalid('', noPem)],
    [
      'spec.signerName',
      'Invalid',
      invalid('nope', "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ],
    ['spec.usages[1]', 'Duplicate', duplicate('client auth')],
    ['spec.usages[2]', 'NotSupported', unsupported('odd', ...usages)],
  ],
  ['no usages', asks({ usages: [] }), ['spec.usages', 'Required', missing]],
  ['no signer', asks({ signerName: '' }), ['spec.signerName', 'Required', missing]],
  [
    'an invalid signer name',
    asks({ signerName: 'A/b_c' }),
    ['spec.signerName', 'Invalid', invalid('A', `validating label "A": ${says.label}`)],
    ['spec.signerName', 'Invalid', invalid('A', 'should be a domain with at least two segments separated by dots')],
    ['spec.signerName', 'Invalid', invalid('b_c', `validating label "b_c": ${says.subdomain}`)],
  ],
  [
    'the legacy signer',
    asks({ signerName: 'kubernetes.io/legacy-unknown' }),
    [
      'spec.signerName',
      'Invalid',
      invalid('kubernetes.io/legacy-unknown', 'the legacy signerName is not allowed via this API version'),
    ],
  ],
  [
    'expirationSeconds below the minimum',
    asks({ expirationSeconds: 599 }),
    [
      'spec.expirationSeconds',
      'Invalid',
      invalid(599, 'may not specify a duration less than 600 seconds (10 minutes)'),
    ],
  ],
];

test('a name may contain any character that is valid in a path', () => {
  const { nameRule } = certificateSigningRequests.strategy;
  expect(['system:node:A_b', '..', '50%'].map((name) => nameRule?.(name))).toEqual([
    [],
    ["may not be '..'"],
    ["may not contain '%'"],
  ]);
});

describe('certificate signing requests', () => {
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(certificateSigningRequests, fragment)).toEqual(sorted(expected));
  });

  test.each(Object.entries(signed))('a signature of %s', (_, der) => {
    const fragment = asks({ request: pem('CERTIFICATE REQUEST', Buffer.from(der, 'base64')) });
    expect(onCreate(certificateSigningRequests, fragment)).toEqual([]);
  });

  test('the requester is set from the authenticated user', () => {
    const object = created(certificateSigningRequests, asks({ username: 'root', groups: ['system:masters'] }));
    expect(object['spec']).toMatchObject({
      username: 'jane',
      uid: 'u1',
      groups: ['system:authenticated'],
      extra: { scopes: ['a'] },
    });
  });

  const approved = { type: 'Approved', status: 'True', lastUpdateTime: '2020-01-01T00:00:00Z' };
  const old = () => ({
    ...created(certificateSigningRequests, asks({})),
    status: { conditions: [approved], certificate },
  });
  const afterStatus = (status: JsonObject) => replaced(certificateSigningRequests, old(), { status }, 'status');

  test('the spec is immutable, and a status update keeps approval conditions', () => {
    expect(replaced(certificateSigningRequests, old(), asks({ usages: ['any'] }))['spec']).toMatchObject(
      asks({})['spec'] as object,
    );
    const conditions = [
      { type: 'Failed', status: 'True' },
      { ...approved, reason: 'Changed' },
    ];
    const after = afterStatus({ conditions, certificate });
    expect((after['status'] as JsonObject)['conditions']).toEqual([
      {
        type: 'Failed',
        status: 'True',
        lastUpdateTime: '2024-01-02T03:04:05Z',
        lastTransitionTime: '2024-01-02T03:04:05Z',
      },
      { ...approved, lastTransitionTime: '2024-01-02T03:04:05Z' },
    ]);
    expect(fieldErrors(certificateSigningRequests, after, old())).toEqual([]);
  });

  const cannot = (verb: string, type: string): ReportedError => [
    'status.conditions',
    'Forbidden',
    forbidden(`updates may not ${verb} a condition of type "${type}"`),
  ];
  const updates: readonly Row[] = [
    ['a removed approval', { certificate }, cannot('remove', 'Approved')],
    [
      'an added denial',
      { certificate, conditions: [approved, { type: 'Denied', status: 'True' }] },
      cannot('add', 'Denied'),
      ['status.conditions', 'Invalid', invalid('Denied', 'Approved and Denied conditions are mutually exclusive')],
    ],
    [
      'a changed certificate, and a condition that is False',
      { conditions: [approved, { type: 'Failed', status: 'False' }], certificate: base64('x') },
      ['status.certificate', 'Forbidden', forbidden('updates may not modify existing certificate content')],
      [
        'status.certificate',
        'Invalid',
        invalid('<certificate data>', 'must contain at least one CERTIFICATE PEM block'),
      ],
      ['status.conditions[1].status', 'NotSupported', unsupported('False', 'True')],
    ],
    [
      'a request in the certificate field',
      { conditions: [approved], certificate: request },
      ['status.certificate', 'Forbidden', forbidden('updates may not modify existing certificate content')],
      [
        'status.certificate',
        'Invalid',
        invalid('<certificate data>', 'only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"'),
      ],
    ],
  ];
  test('an update may leave what a new request must not have', () => {
    const stored = {
      ...created(
        certificateSigningRequests,
        asks({ signerName: 'kubernetes.io/legacy-unknown', usages: ['any', 'any', 'x'] }),
      ),
      status: { conditions: [approved, approved, { type: '', status: 'True' }], certificate: base64('x') },
    };
    const after = replaced(certificateSigningRequests, stored, { status: stored.status }, 'status');
    expect(fieldErrors(certificateSigningRequests, after, stored)).toEqual([]);
    expect(fieldErrors(certificateSigningRequests, stored)).toHaveLength(6);
  });

  test.each(updates)('%s', (_, status, ...expected) => {
    expect(fieldErrors(certificateSigningRequests, afterStatus(status), old())).toEqual(sorted(expected));
  });
});

test.each(['/', 'a.'])('a signer name of very many "%s" is divided into 571 parts at most', (part) => {
  const split = vi.spyOn(String.prototype, 'split');
  expect(validateSigner(`${part.repeat(500_000)}/b`, 'spec.signerName')).not.toEqual([]);
  expect(Math.max(...split.mock.results.map(({ value }) => (value as string[]).length))).toBeLessThanOrEqual(571);
});
