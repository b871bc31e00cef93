import { randomBytes } from 'node:crypto';
import { der } from '../../src/pki/der.ts';
import { formatPem } from '../../src/pki/pem.ts';
import { asAdmin, refused, type Scenario } from './scenario.ts';

/** Attacks on what is signed and verified. */

const requests = '/apis/certificates.orch.io/v1/certificatesigningrequests';

/** A certificate request with the largest RSA key that is read, and an exponent that makes each check long. */
function costlyRequest(): string {
  const modulus = randomBytes(2_048).fill(0xff, 0, 1).fill(0xff, 2_047);
  const key = der.sequence(der.unsigned(modulus), der.unsigned(Buffer.alloc(8, 0xff)));
  const algorithm = der.sequence(der.objectId('1.2.840.113549.1.1.1'), der.null());
  const publicKey = der.sequence(algorithm, der.bitString(key));
  const info = der.sequence(der.unsigned(Buffer.from([0])), der.sequence(), publicKey, der.explicit(0));
  const signature = der.bitString(randomBytes(2_048).fill(0, 0, 1));
  const signed = der.sequence(der.objectId('1.2.840.113549.1.1.11'), der.null());
  return formatPem('CERTIFICATE REQUEST', der.sequence(info, signed, signature));
}

const costlyCertificateRequests: Scenario = {
  name: 'costly-certificate-requests',
  title: 'certificate requests whose signatures take long to check hold up nobody',
  attack: async ({ client, full }) => {
    const spec = { signerName: 'example.com/a', usages: ['client auth'] };
    const body = { spec: { ...spec, request: Buffer.from(costlyRequest()).toString('base64') } };
    await Promise.all(
      Array.from({ length: full ? 1_000 : 200 }, async (_, i) => {
        const object = { ...body, metadata: { name: `r${i}` } };
        refused('a costly request', await client.http1(asAdmin('POST', requests, object)));
      }),
    );
  },
};

export const tokenScenarios: readonly Scenario[] = [costlyCertificateRequests];
