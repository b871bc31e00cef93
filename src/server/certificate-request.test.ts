import { describe, expect, it } from 'vitest';
import { requestedOrganizations } from './certificate-request.ts';
import { der } from './der.ts';

const attribute = (oid: string, text: Uint8Array) => der.sequence(der.objectId(oid), text);
const organization = '2.5.4.10';

/** A request (RFC 2986) with the subject's relative names; key and signature are not looked at. */
function request(...names: Uint8Array[][]): string {
  const subject = der.sequence(...names.map((attributes) => der.set(...attributes)));
  const info = der.sequence(der.unsigned(Buffer.from([0])), subject, der.sequence());
  const body = der.sequence(info, der.sequence(), der.bitString(Buffer.from([1])));
  return pem(body);
}
const pem = (body: Buffer) =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${body.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;

describe('organizations of a certificate request', () => {
  it('are found wherever the subject names them', () => {
    const name = attribute('2.5.4.3', der.utf8('someone'));
    const first = attribute(organization, der.utf8('a'));
    const second = attribute(organization, der.utf8('system:masters'));
    expect(requestedOrganizations(request([name]))).toEqual([]);
    expect(requestedOrganizations(request([first], [name, second]))).toEqual(['a', 'system:masters']);
    const long = attribute(organization, der.utf8('x'.repeat(300)));
    expect(requestedOrganizations(request([long]))).toEqual(['x'.repeat(300)]);
  });

  it('are read in UTF-16 too', () => {
    const text = Buffer.from('ab', 'utf16le').swap16();
    const bmp = Buffer.concat([Buffer.from([0x1e, text.length]), text]);
    expect(requestedOrganizations(request([attribute(organization, bmp)]))).toEqual(['ab']);
  });

  it('are not known of what is no request', () => {
    expect(requestedOrganizations('')).toBeUndefined();
    expect(requestedOrganizations(pem(Buffer.from([0x30, 5])))).toBeUndefined();
    expect(requestedOrganizations(pem(der.sequence(der.utf8('a'))))).toBeUndefined();
    expect(requestedOrganizations(request([der.utf8('a')]))).toBeUndefined();
  });
});
