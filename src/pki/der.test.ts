import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { der, derChildren, readDer } from './der.ts';

describe('der', () => {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

  // X.690 8.1.3: short form up to 127, then the number of length bytes.
  it('encodes lengths in the shortest form', () => {
    expect(hex(der.octets(Buffer.alloc(127)).subarray(0, 3))).toBe('047f00');
    expect(hex(der.octets(Buffer.alloc(128)).subarray(0, 3))).toBe('048180');
    expect(hex(der.octets(Buffer.alloc(256)).subarray(0, 4))).toBe('04820100');
  });

  it('encodes non-negative integers without redundant leading zeros', () => {
    expect(hex(der.unsigned(Buffer.from([0, 0, 1])))).toBe('020101');
    expect(hex(der.unsigned(Buffer.from([0])))).toBe('020100');
    expect(hex(der.unsigned(Buffer.from([0x80])))).toBe('02020080');
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 200n }), (value) => {
        const digits = value.toString(16);
        const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
        const content = der.unsigned(bytes).subarray(2);
        expect(content[0]! < 0x80).toBe(true);
        expect(BigInt(`0x${hex(content)}`)).toBe(value);
      }),
    );
  });

  it('encodes named bits, object identifiers and times as in the examples of the standards', () => {
    expect(hex(der.bits(0))).toBe('03020780');
    expect(hex(der.bits(0, 5, 6))).toBe('03020186');
    expect(hex(der.objectId('1.2.840.10045.4.3.2'))).toBe('06082a8648ce3d040302');
    expect(
      der
        .time(Date.UTC(2049, 11, 31, 23, 59, 59))
        .subarray(2)
        .toString(),
    ).toBe('491231235959Z');
    expect(
      der
        .time(Date.UTC(2050, 0, 1))
        .subarray(2)
        .toString(),
    ).toBe('20500101000000Z');
  });
});

describe('readDer', () => {
  it('reads back every element that the writer wrote', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 8 }), (contents) => {
        const bytes = der.sequence(...contents.map((content) => der.octets(content)));
        const root = readDer(bytes, 0);
        expect(root).toMatchObject({ tag: 0x30, start: 0, end: bytes.length });
        const children = derChildren(bytes, root!)!;
        expect(children.map(({ body, end }) => bytes.subarray(body, end))).toEqual(contents.map((c) => Buffer.from(c)));
      }),
    );
  });

  it.each([
    ['an empty buffer', ''],
    ['a tag of several bytes', '1f0100'],
    ['an indefinite length', '3080'],
    ['a length that is not minimal', '048101ff'],
    ['truncated content', '0402ff'],
  ])('rejects %s', (_, hex) => {
    expect(readDer(Buffer.from(hex, 'hex'), 0)).toBeUndefined();
  });
});
