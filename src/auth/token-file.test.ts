import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StatusError } from '../meta/index.ts';
import { parseTokenFile } from './token-file.ts';

const refusal = (text: string): string => {
  try {
    parseTokenFile(text);
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('parseTokenFile', () => {
  it('parses user, uid and groups, quoted or not', () => {
    expect(parseTokenFile('s3cret,ada,u1,"a,b"\nother,"b ""x"" c",u2,ops\r\nlast,c,u3')).toEqual([
      { token: 's3cret', user: { name: 'ada', uid: 'u1', groups: ['a', 'b'] } },
      { token: 'other', user: { name: 'b "x" c', uid: 'u2', groups: ['ops'] } },
      { token: 'last', user: { name: 'c', uid: 'u3', groups: [] } },
    ]);
  });

  it('has groups in every column after the third', () => {
    expect(parseTokenFile('t,ada,u1,ops,"a,b",,dev')).toEqual([
      { token: 't', user: { name: 'ada', uid: 'u1', groups: ['ops', 'a', 'b', 'dev'] } },
    ]);
  });

  it('skips blank lines, a byte order mark, white space around fields and empty groups', () => {
    expect(parseTokenFile('\uFEFF\n t , ada , , " a ,, b " \n\n')).toEqual([
      { token: 't', user: { name: 'ada', groups: ['a', 'b'] } },
    ]);
    expect(parseTokenFile('')).toEqual([]);
  });

  it('names the line, and never the token', () => {
    expect(refusal('a,b,c\n\nsecret,x\n')).toBe('line 3 has 2 of at least 3 columns (token, user, uid)');
    expect(refusal('a,b,c\n,b,c')).toBe('line 2 has an empty token');
    expect(refusal('secret,,c')).toBe('line 1 has an empty user name');
    expect(refusal('secret,a,1\nother,b,2\nsecret,c,3')).toBe('line 3 repeats the token of line 1');
    expect(refusal('a,b,c\nsecret,x"y,1')).toBe('line 2 has a quote that is not closed or stands inside a field');
    expect(refusal('secret,"x,1')).toBe('line 1 has a quote that is not closed or stands inside a field');
  });

  it.each([
    ['in UTF-16', Buffer.from('secret,ada,1\n', 'utf16le').toString()],
    ['in Latin-1', Buffer.from('secret,j\xf6rg,1\n', 'latin1').toString()],
    ['with a NUL in a group', 'secret,ada,1,"dev\0"\n'],
  ])('refuses a file %s, whose names would be others', (_, text) => {
    expect(refusal(text)).toBe('line 1 has a NUL or bytes that are not UTF-8: save the file as UTF-8');
  });

  it('counts lines inside quotes', () => {
    expect(refusal('a,"two\nlines",1\nb,c')).toBe('line 3 has 2 of at least 3 columns (token, user, uid)');
  });

  it('reads back what a CSV writer wrote', () => {
    const text = fc.string({ minLength: 1 }).filter((s) => s.trim() === s && !/[,\0\uFEFF\uFFFD]/.test(s));
    const quoted = (s: string) => `"${s.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(fc.uniqueArray(text), text, fc.uniqueArray(text), (tokens, name, groups) => {
        const file = tokens.map((token) => `${[token, name, '', groups.join(',')].map(quoted).join(',')}\n`).join('');
        expect(parseTokenFile(file)).toEqual(tokens.map((token) => ({ token, user: { name, groups } })));
      }),
    );
  });
});
