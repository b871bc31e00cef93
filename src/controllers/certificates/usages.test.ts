import { describe, expect, it } from 'vitest';
import { keyUsages } from './usages.ts';

describe('usages of a certificate', () => {
  it.each([
    [['signing'], [0], []],
    [['signing', 'digital signature'], [0], []],
    [['client auth', 'client auth'], [], ['1.3.6.1.5.5.7.3.2']],
    [['cert sign', 'encipher only'], [5, 7], []],
    [['ocsp signing', 'crl sign', 's/mime', 'email protection'], [6], ['1.3.6.1.5.5.7.3.4', '1.3.6.1.5.5.7.3.9']],
  ])('%j', (usages, keyUsage, extendedKeyUsage) => {
    expect(keyUsages(usages)).toEqual({ keyUsage, extendedKeyUsage });
  });

  it('are refused when they are unknown', () => {
    expect(() => keyUsages(['client auth', '__proto__'])).toThrow('unrecognized usage values: ["__proto__"]');
  });
});
