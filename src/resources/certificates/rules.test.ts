import { describe, expect, test } from 'vitest';
import { created, type Fragment, findings, onCreate, type Row, replaced, sorted } from '../testing/kind.ts';
import { duplicate, forbidden, invalid, missing, says, unsupported } from '../testing/messages.ts';
import { certificateSigningRequests } from './certificate-signing-requests.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const pem = (type: string, der: Buffer) =>
  base64(`-----BEGIN ${type}-----\n${der.toString('base64')}\n-----END ${type}-----\n`);
const request = pem('CERTIFICATE REQUEST', Buffer.from([0x30, 2, 5, 0]));
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
  ['whole', asks({})],
  ['no PEM', asks({ request: 'eA==' }), ['spec.request', 'Invalid', invalid('eA==', noPem)]],
  [
    'another block',
    asks({ request: pem('CERTIFICATE', Buffer.from([0x30, 0])) }),
    ['spec.request', 'Invalid', invalid(pem('CERTIFICATE', Buffer.from([0x30, 0])), noPem)],
  ],
  [
    'nothing in the block',
    asks({ request: pem('CERTIFICATE REQUEST', Buffer.from('x')) }),
    [
      'spec.request',
      'Invalid',
      invalid(pem('CERTIFICATE REQUEST', Buffer.from('x')), 'the block holds no certificate request'),
    ],
  ],
  [
    'request, signer and usages',
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
    'a signer',
    asks({ signerName: 'A/b_c' }),
    ['spec.signerName', 'Invalid', invalid('A', `validating label "A": ${says.label}`)],
    ['spec.signerName', 'Invalid', invalid('A', 'should be a domain with at least two segments separated by dots')],
    ['spec.signerName', 'Invalid', invalid('b_c', `validating label "b_c": ${says.subdomain}`)],
  ],
  [
    'the signer of old',
    asks({ signerName: 'kubernetes.io/legacy-unknown' }),
    [
      'spec.signerName',
      'Invalid',
      invalid('kubernetes.io/legacy-unknown', 'the legacy signerName is not allowed via this API version'),
    ],
  ],
  [
    'for a moment',
    asks({ expirationSeconds: 599 }),
    [
      'spec.expirationSeconds',
      'Invalid',
      invalid(599, 'may not specify a duration less than 600 seconds (10 minutes)'),
    ],
  ],
];

describe('requests for certificates', () => {
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(certificateSigningRequests, fragment)).toEqual(sorted(expected));
  });

  const old = () => {
    const object = created(certificateSigningRequests, asks({}));
    const approved = { type: 'Approved', status: 'True', lastUpdateTime: '2020-01-01T00:00:00Z' };
    return { ...object, status: { conditions: [approved], certificate: pem('CERTIFICATE', Buffer.from([0x30, 0])) } };
  };
  test('what is asked for stays, and so do decisions in a write of the status', () => {
    expect(replaced(certificateSigningRequests, old(), asks({ usages: ['any'] }))['spec']).toMatchObject(
      asks({})['spec'] as object,
    );
    const status = { conditions: [{ type: 'Failed', status: 'True' }], certificate: old().status.certificate };
    const after = replaced(certificateSigningRequests, old(), { status }, 'status');
    expect(after['status']).toMatchObject({
      conditions: [
        { type: 'Approved', lastUpdateTime: '2020-01-01T00:00:00Z' },
        { type: 'Failed', lastUpdateTime: '2024-01-02T03:04:05Z', lastTransitionTime: '2024-01-02T03:04:05Z' },
      ],
    });
    expect(findings(certificateSigningRequests, after, old())).toEqual([]);
  });
  test('a certificate is issued once, a condition is true once', () => {
    const status = { conditions: [{ type: 'Failed', status: 'False' }], certificate: base64('x') };
    const after = replaced(certificateSigningRequests, old(), { status }, 'status');
    expect(findings(certificateSigningRequests, after, old())).toEqual([
      ['status.certificate', 'Forbidden', forbidden('updates may not modify existing certificate content')],
      [
        'status.certificate',
        'Invalid',
        invalid('<certificate data>', 'must contain at least one CERTIFICATE PEM block'),
      ],
      ['status.conditions[1].status', 'NotSupported', unsupported('False', 'True')],
    ]);
  });
});
