import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64ErrorOffset, canonicalBase64 } from './base64.ts';

describe('base64', () => {
  it.each([
    ['', ''],
    ['dg==', 'dg=='],
    ['dmFs\ndWU=\r\n', 'dmFsdWU='],
    ['dg=\n=', 'dg=='],
    // The last four bits of the second digit mean nothing.
    ['dh==', 'dg=='],
  ])('decodes %j as %j', (text, canonical) => {
    expect(canonicalBase64(text)).toBe(canonical);
  });

  it.each([
    // As recorded from the reference server: a blank after three digits.
    ['not base64!', 3],
    ['dg', 0],
    ['dmFsdg', 4],
    ['dg=', 3],
    ['dg=x', 2],
    ['=', 0],
    ['d===', 1],
    ['dg==dg==', 4],
    ['dmF=x', 4],
    ['d_-=', 1],
    ['é===', 0],
  ])('reports that %j is invalid at byte %i', (text, offset) => {
    expect(base64ErrorOffset(text)).toBe(offset);
    expect(canonicalBase64(text)).toBeUndefined();
  });

  it('keeps the canonical encoding of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(canonicalBase64(text)).toBe(text);
        expect(base64ErrorOffset(text)).toBeUndefined();
      }),
    );
  });
});
