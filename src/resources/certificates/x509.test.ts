import { describe, expect, it } from 'vitest';
import { der } from '../../pki/der.ts';
import { formatPem, requestedSubject } from '../../pki/index.ts';
import { requestProblem } from './x509.ts';

const attribute = (oid: string, text: Uint8Array) => der.sequence(der.objectId(oid), text);
const organization = '2.5.4.10';

/** A request (RFC 2986) with these relative names as its subject; key and signature are placeholders. */
function request(...names: Uint8Array[][]): string {
  const subject = der.sequence(...names.map((attributes) => der.set(...attributes)));
  const info = der.sequence(der.unsigned(Buffer.from([0])), subject, der.sequence());
  const body = der.sequence(info, der.sequence(), der.bitString(Buffer.from([1])));
  return pem(body);
}
const pem = (body: Buffer) => formatPem('CERTIFICATE REQUEST', body);

const organizationsOf = (text: string) => requestedSubject(text)?.organizations;

describe('organizations of a certificate request', () => {
  it('are read from any part of the subject', () => {
    const name = attribute('2.5.4.3', der.utf8('someone'));
    const first = attribute(organization, der.utf8('a'));
    const second = attribute(organization, der.utf8('system:masters'));
    expect(organizationsOf(request([name]))).toEqual([]);
    expect(organizationsOf(request([first], [name, second]))).toEqual(['a', 'system:masters']);
    const long = attribute(organization, der.utf8('x'.repeat(300)));
    expect(organizationsOf(request([long]))).toEqual(['x'.repeat(300)]);
  });

  it('are valid together with the last common name', () => {
    const name = (text: string) => attribute('2.5.4.3', der.utf8(text));
    const subject = [[name('a')], [attribute(organization, der.utf8('o')), name('system:node:b')]];
    expect(requestedSubject(request(...subject))).toEqual({ commonName: 'system:node:b', organizations: ['o'] });
    expect(requestedSubject(request())).toEqual({ commonName: '', organizations: [] });
  });

  it('are read from BMP strings', () => {
    const text = Buffer.from('ab', 'utf16le').swap16();
    const bmp = Buffer.concat([Buffer.from([0x1e, text.length]), text]);
    expect(organizationsOf(request([attribute(organization, bmp)]))).toEqual(['ab']);
  });

  it('are read of a subject with up to 2,000 attributes', () => {
    const names = (count: number) => Array.from({ length: count }, (_, i) => attribute(organization, der.utf8(`${i}`)));
    expect(organizationsOf(request(names(1_000), names(1_000)))).toHaveLength(2_000);
    expect(organizationsOf(request(names(1_000), names(1_001)))).toBeUndefined();
  });

  it.each([
    ['a T61String', Buffer.from([0x14, 1, 0x61])],
    ['a PrintableString', Buffer.from([0x13, 1, 0x61])],
  ])('are read in %s', (_, text) => {
    expect(organizationsOf(request([attribute(organization, text)]))).toEqual(['a']);
  });

  it.each([
    ['a BMPString with half a character', Buffer.from([0x1e, 3, 0, 0x61, 0])],
    ['a UniversalString', Buffer.from([0x1c, 4, 0, 0, 0, 0x61])],
    ['a number', der.unsigned(Buffer.from([1]))],
    ['a tag of two bytes', Buffer.from([0x1f, 0x0c, 1, 0x61])],
    ['a length longer than it need be', Buffer.from([0x0c, 0x81, 1, 0x61])],
    ['a length of four bytes where one would do', Buffer.from([0x0c, 0x84, 0, 0, 0, 1, 0x61])],
    ['no length at all', Buffer.from([0x0c, 0x80, 0x61, 0, 0])],
  ])('are not known in %s', (_, text) => {
    expect(organizationsOf(request([attribute(organization, text)]))).toBeUndefined();
  });

  // Text around the block, or a second block: parsers could find different requests.
  const innocent = request([attribute(organization, der.utf8('a'))]);
  const wanted = request([attribute(organization, der.utf8('system:masters'))]);
  const inOneLine = innocent.replaceAll('\n', '');
  it.each([
    ['text before it', `text\n${wanted}`],
    ['text after it', `${wanted}text`],
    ['another before it', innocent + wanted],
    ['another after it', wanted + innocent],
    ['what is not a block to everyone before it', `${inOneLine}\n${wanted}`],
    ['the same in one line with text', `x${inOneLine}\n${wanted}`],
    ['a block of another type before it', formatPem('CERTIFICATE', Buffer.alloc(3)) + wanted],
    ['a block of another type after it', wanted + formatPem('CERTIFICATE', Buffer.alloc(3))],
    ['what begins like it after it', `${wanted}-----BEGIN CERTIFICATE REQUEST-----\n`],
  ])('are not known with %s, which no request may have', (_, text) => {
    expect(organizationsOf(text)).toBeUndefined();
    expect(requestProblem(text)).toMatch(/PEM block/);
  });

  it('are read with white space around the PEM block', () => {
    expect(organizationsOf(`\n\n${wanted.replaceAll('\n', '\r\n')}\n \t\n`)).toEqual(['system:masters']);
  });

  it('are undefined for anything but a request', () => {
    expect(organizationsOf('')).toBeUndefined();
    expect(organizationsOf(pem(Buffer.from([0x30, 5])))).toBeUndefined();
    expect(organizationsOf(pem(der.sequence(der.utf8('a'))))).toBeUndefined();
    expect(organizationsOf(request([der.utf8('a')]))).toBeUndefined();
  });
});
