import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../meta/index.ts';
import { compileRegex, keptRegexes } from './regex.ts';

const matches = (pattern: string, text: string): boolean => compileRegex(pattern).test(text);

describe('regular expressions', () => {
  it.each([
    ['', 'x', true],
    ['ell', 'hello', true],
    ['^ell', 'hello', false],
    ['^hel', 'hello', true],
    ['llo$', 'hello\n', false],
    ['^hello$', 'hello', true],
    ['h.*o', 'hello', true],
    ['^[a-z]([-a-z0-9]*[a-z0-9])?$', 'my-name', true],
    ['^.$', '\u{1f600}', true],
    ['\\pL+', 'é', true],
    ['(?i)HELLO', 'hello', true],
    ['(?s)a.b', 'a\nb', true],
    ['a.b', 'a\nb', false],
    ['(?m)^b$', 'a\nb', true],
    ['\\Qa.b\\E', 'a.b', true],
    ['[[:alpha:]]{2}', 'ab', true],
    ['\\x{1F600}', '\u{1f600}', true],
    ['(?P<n>a)', 'a', true],
    ['^(?P<n>a)(?<n>b)[(?<n>]\\Q(?<n>\\E$', 'ab<(?<n>', true],
  ])('%j in %j: %o', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it.each([
    ['(a', 'missing closing ): `(a`'],
    ['a)', 'unexpected ): `a)`'],
    ['[a', 'missing closing ]: `[a`'],
    ['*', 'missing argument to repetition operator: `*`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['\\8', 'invalid escape sequence: `\\8`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(a)\\1', 'invalid escape sequence: `\\1`'],
    ['[b-a]', 'invalid character class range: `b-a`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
    ['(?<n>a)(?<n>(', 'missing closing ): `(a)((`'],
    [`${'('.repeat(1001)}${')'.repeat(1001)}`, 'expression nests too deeply'],
  ])('%j is refused as Go does', (pattern, reason) => {
    expect(() => compileRegex(pattern)).toThrow(`error parsing regexp: ${reason}`);
  });

  it.each([
    ['nested repetitions', '(a{1000}){1000}'],
    ['repetitions in a row', '.{1000}'.repeat(11)],
    ['a repeated group', `(?:${'ab'.repeat(100)}){100}`],
    ['a repeated group with escapes and classes', `(?:\\(\\[[)(\\]]${'x'.repeat(20)}){500}`],
    ['a repeated group after a quoted parenthesis', '(?:\\Q)\\Eaaaaaaaaaaaaaaaaaaaa){1000}'],
    ['repetitions within each other', '(?:(?:a{10}b){10}c{100}){10}'.repeat(6)],
    ['Unicode properties', `[${'\\pL'.repeat(34)}]`],
    ['Unicode properties of a few characters', `${'a\\P{Lu}'.repeat(34)}`],
    ['wide ranges without case', '(?i)[\\x{42}-\\x{10FFFF}]'.repeat(5)],
    ['many ranges without case', `(?s)(?i:[${'Ā-䄀'.repeat(40)}])`],
  ])('%s are refused where they are too large when written out', (_, pattern) => {
    expect(() => compileRegex(pattern)).toThrow('error parsing regexp: expression too large');
  });
  it.each([
    ['^[\\p{L}\\p{N}]([\\p{L}\\p{N}\\p{M} ._-]{0,61}[\\p{L}\\p{N}])?$', 'Ærøskøbing 1', true],
    ['(?i)^[a-z0-9一-鿿ぁ-ヿ]{1,63}$', 'ABC漢字かな', true],
    [`^(?i)(?:[\\x{0}-\\x{10FFFF}]b)+$`, 'aBcb', true],
    [`[${'Ā-䄀'.repeat(40)}]`, 'Ā', true],
  ])('%s, which is short, is not refused', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });
  it('is refused when the pattern is too long', () => {
    expect(() => compileRegex('a'.repeat(10_001))).toThrow('pattern is longer than 10000 characters');
    expect(matches('a'.repeat(9_900), 'a')).toBe(false);
  });
  it.each([
    ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$', 300],
    ['^.{0,253}$', 600],
    ['{,5}a{b}', 20],
    ['[{]{3}', 20],
  ])('%s has a program of at most %i instructions', (pattern, most) => {
    expect(compileRegex(pattern).programSize).toBeLessThanOrEqual(most);
  });

  it.each([
    ['(a+)+$', `${'a'.repeat(50_000)}!`],
    ['^(a|aa)*b', 'a'.repeat(50_000)],
    ['(x+x+)+y', 'x'.repeat(50_000)],
    ['(?:a?){500}a{500}', 'a'.repeat(499)],
    ['(.*)(.*)(.*)(.*)z', 'a'.repeat(20_000)],
  ])('%s, which takes other engines forever, ends', (pattern, text) => {
    expect(matches(pattern, text)).toBe(false);
  });

  it('finds parts that match without overlap, by the rules of Go', () => {
    const all = (pattern: string, text: string, most = Number.POSITIVE_INFINITY) =>
      atOnce(compileRegex(pattern).findAll(text, most));
    expect(all('[0-9]+', 'abc 123 de 45')).toEqual(['123', '45']);
    expect(all('[0-9]+', '1 2 3', 2)).toEqual(['1', '2']);
    expect(all('[0-9]+', '1 2 3', 0)).toEqual([]);
    expect(all('a*', 'baaac')).toEqual(['', 'aaa', '']);
    expect(all('', '\u{1f600}a')).toEqual(['', '', '']);
    expect(all('.', '\u{1f600}a')).toEqual(['\u{1f600}', 'a']);
  });

  it('finds a bounded number of parts in a long text', () => {
    const all = Number.POSITIVE_INFINITY;
    expect(atOnce(compileRegex('a').findAll('a'.repeat(10_000), all))).toHaveLength(10_000);
    const long = compileRegex('a|b');
    expect(() => atOnce(long.findAll('a'.repeat(10_001), all))).toThrow('too many matches in a long text');
    expect(atOnce(long.findAll('a'.repeat(100_000), 1000))).toHaveLength(1000);
  });

  it('keeps programs of at most 50000 instructions, of the patterns used last', () => {
    const first = compileRegex('first{1}');
    for (let i = 0; i < 200; i++) {
      compileRegex(`[a-z]{900}${i}`);
      expect(compileRegex('first{1}')).toBe(first);
      expect(keptRegexes().instructions).toBeLessThanOrEqual(50_000);
    }
    for (let i = 0; i < 2000; i++) compileRegex(`pattern-${i}`);
    expect(keptRegexes().instructions).toBeLessThanOrEqual(50_000);
    expect(keptRegexes().patterns).toBeLessThan(500);
    expect(compileRegex('first{1}')).not.toBe(first);
  });

  it('keeps a bounded amount of the states that matching computes', () => {
    let seed = 1;
    const text = Array.from({ length: 40_000 }, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return (seed >>> 16) % 2 === 0 ? 'a' : 'b';
    }).join('');
    let seen = 0;
    for (let i = 0; i < 64 && seen <= 16_000_000; i++) {
      matches(`a[ab]{14}[^ab]${i}?`, text);
      seen = Math.max(seen, keptRegexes().stateBytes);
    }
    expect(seen).toBeGreaterThan(16_000_000);
    for (let i = 0; i < 16; i++) matches('a', 'a');
    expect(keptRegexes().stateBytes).toBeLessThanOrEqual(16_000_000);
  });

  it('agrees with the built-in engine on simple patterns', () => {
    const piece = fc.constantFrom('a', 'b', '.', '[ab]', 'a*', 'b+', '(a|b)', 'a?', '^', '$', '\\.', 'c{2}');
    const pattern = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', '\n'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(matches(source, subject)).toBe(new RegExp(source, 'u').test(subject));
      }),
      { numRuns: 500 },
    );
  });
});
