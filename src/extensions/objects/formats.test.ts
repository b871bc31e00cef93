import { describe, expect, it } from 'vitest';
import { knownFormat, stringFormat } from './formats.ts';

const cases: { readonly [format: string]: readonly [valid: readonly string[], invalid: readonly string[]] } = {
  bsonobjectid: [['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901', '507f1f77bcf86cd79943901z']],
  uri: [
    ['http://a.b/c?d=e', '/a/b', 'urn:a:b', 'http://[::1]:80/', 'mailto:a@b', '*', '//x y', 'http://u:p@h:1'],
    ['', 'a/b', 'http://a b/', 'http://a/%zz', '/a\n', 'http://[::1', 'http://a:b:c/', '#x', 'http://a%41/'],
  ],
  email: [
    ['a@b', 'a.b+c@d.example', 'Ann Lee <a@b.c>', '"Ann, Lee" <a@b>', '"x y"@b', '<a@b>', 'é@b.c', 'a@[127.0.0.1]'],
    ['', 'a', '@b', 'a@', 'a@b@c', 'a b@c', 'a..b@c', 'Ann <a@b', 'Ann a@b', 'a@b, c@d', '.a@b'],
  ],
  hostname: [
    ['a', 'a-b', 'a.example', '1.example', 'bücher.example', 'a-b.c-d.com', 'a-', 'x'.repeat(63)],
    ['', '-a', 'a_b', 'a.b.1', 'a..com', '.com', 'a.c', 'x'.repeat(64), 'a.-b.com', `${'a.'.repeat(127)}com`],
  ],
  ipv4: [
    ['1.2.3.4', '010.0.0.1', '::ffff:1.2.3.4'],
    ['', '1.2.3', '1.2.3.256', '::1', '1.2.3.4%eth0', '0'.repeat(9999)],
  ],
  ipv6: [
    ['::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4'],
    ['', '1.2.3.4', '::g', '::1%eth0', '1::2::3'],
  ],
  cidr: [
    ['10.0.0.0/8', '010.0.0.1/32', '::/0', '1::2/128'],
    ['', '10.0.0.0', '10.0.0.0/33', '::/129', 'a/8', '1.2.3.4/-1'],
  ],
  mac: [
    ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab', '01:23:45:67:89:ab:cd:ef', '0123.4567.89ab.cdef'],
    ['', '01:23:45:67:89', '01:23-45:67:89:ab', '0123:4567:89ab', '01:23:45:67:89:ag'],
  ],
  uuid: [
    ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'],
    ['', '123e4567', 'g'.repeat(32)],
  ],
  uuid3: [['123e4567-e89b-32d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
  uuid4: [['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-42d3-c456-426614174000']],
  uuid5: [['123e4567-e89b-52d3-b456-426614174000'], ['123e4567-e89b-42d3-b456-426614174000']],
  isbn: [
    ['0321751043', '978-0321751041', '080442957X'],
    ['0321751044', '978-0321751042', '', 'X321751043'],
  ],
  isbn10: [['0-321-75104-3'], ['978-0321751041']],
  isbn13: [['9780321751041'], ['0321751043']],
  creditcard: [
    ['4111 1111 1111 1111', '378282246310005'],
    ['4111 1111 1111 1112', '1', ''],
  ],
  ssn: [
    ['111-22-3333', '111 22 3333'],
    ['111223333', '11-222-3333', ''],
  ],
  hexcolor: [
    ['#fff', 'A0b1C2'],
    ['#ffff', '', 'ggg'],
  ],
  rgbcolor: [
    ['rgb(0,128,255)', 'rgb( 1 , 2 , 3 )'],
    ['rgb(256,0,0)', 'rgb(01,0,0)', 'rgb(1,2)', ''],
  ],
  byte: [
    ['YQ==', 'YWI=', 'YWJj'],
    ['', 'YQ', 'YQ=', 'a-b_', '===='],
  ],
  password: [['', 'anything'], []],
  date: [
    ['2024-02-29', '0000-02-29', '1999-12-31'],
    ['2023-02-29', '2024-13-01', '2024-00-01', '2024-1-1', '', '0001-02-29'],
  ],
  duration: [
    ['1h30m', '1.5s', '-3ms', '0', '2 days', '1 week 3 hours', '5MIN', '10 µs'],
    ['', '1', 'x', '5 parsecs', '99999999999999999999 days', '1'.repeat(9999)],
  ],
  'date-time': [
    ['2024-01-02T03:04:05Z', '2024-01-02t03:04:05.123z', '2024-01-02T03:04:05+01:00', '2024-01-02T03:04:05,5Z'],
    [
      'yesterday',
      '2024-01-02',
      '2024-01-02T24:00:00Z',
      '2024-01-02T03:60:05Z',
      '2024-01-02T03:04:60Z',
      '2024-01-02T03:04:05',
    ],
  ],
};

describe('formats of strings', () => {
  for (const [format, [valid, invalid]] of Object.entries(cases)) {
    it(format, () => {
      const accepts = stringFormat(format);
      expect(valid.filter((text) => accepts?.(text) !== true)).toEqual([]);
      expect(invalid.filter((text) => accepts?.(text) !== false)).toEqual([]);
    });
  }

  it('formats of another type, and unknown ones, are ignored', () => {
    expect(knownFormat('date-time', ['string'])).toBe('date-time');
    expect(knownFormat('int32', ['string'])).toBe('');
    expect(knownFormat('nope', ['string'])).toBe('');
    expect(knownFormat('int32', ['integer'])).toBe('int32');
    expect(knownFormat('date', ['integer'])).toBe('');
    expect(knownFormat('double', ['number'])).toBe('double');
    expect(knownFormat('date', ['object'])).toBe('');
    expect(knownFormat('ipv4', [])).toBe('ipv4');
    expect(knownFormat('ipv4', ['integer', 'string'])).toBe('ipv4');
  });
});
