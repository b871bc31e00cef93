import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileRegex } from '../cel/index.ts';
import { javaScriptPattern } from './pattern.ts';

const translated: readonly [source: string, pattern: string][] = [
  ['^[a-z]([-a-z0-9]*[a-z0-9])?$', '^[a-z]([-a-z0-9]*[a-z0-9])?$'],
  ['^.+$', '^[^\\n]+$'],
  ['\\s[\\sx]\\S', '[\\t\\n\\f\\r ][\\t\\n\\f\\r x][^\\t\\n\\f\\r ]'],
  ['\\Aa\\z', '^a$'],
  ['a\\-b\\_c\\@', 'a-b_c@'],
  ['[\\w-.]', '[\\w\\-.]'],
  ['[\\w-]', '[\\w-]'],
  ['[]a]', '[\\]a]'],
  ['[^]a]', '[^\\]a]'],
  ['[[a]', '[\\[a]'],
  ['a{2,3}b{x}', 'a{2,3}b\\{x\\}'],
  ['(?P<year>\\d{4})', '(?<year>\\d{4})'],
  ['\\pL\\p{Lu}\\PN', '\\p{L}\\p{Lu}\\P{N}'],
  ['\\x41\\x{1F600}', '\\x41\\u{1F600}'],
  ['a]', 'a\\]'],
];

describe('patterns in the syntax of JavaScript', () => {
  it.each(translated)('%s is %s', (source, pattern) => {
    expect(javaScriptPattern(source)).toBe(pattern);
  });

  it.each(['(?i)a', '(?s:a.)', '[[:alpha:]]', '\\Qa\\E', '[^\\S]', '\\p{Greek}', 'a**', '\\C', '[', '\\'])(
    '%s has no equivalent that every Node knows',
    (source) => {
      expect(javaScriptPattern(source)).toBeUndefined();
    },
  );

  it('match what the server matches', () => {
    const pieces = [
      'a',
      'B',
      '7',
      '-',
      '_',
      '.',
      '@',
      ']',
      '[',
      '{',
      '}',
      '\n',
      '\r',
      '\t',
      '\v',
      ' ',
      '\u00a0',
      'é',
      '😀',
      '\u2028',
    ];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((all) => all.join(''));
    const sources = [
      ...translated.map(([source]) => source),
      '^\\w+$',
      '^[^a]$',
      '^..$',
      '\\bB',
      '^(a|\\d)*$',
      '^\\D?$',
    ];
    let matched = 0;
    fc.assert(
      fc.property(fc.constantFrom(...sources), text, (source, given) => {
        const matches = new RegExp(javaScriptPattern(source) ?? '', 'u').test(given);
        if (matches) matched++;
        expect(matches).toBe(compileRegex(source).test(given));
      }),
      { numRuns: 5_000 },
    );
    expect(matched).toBeGreaterThan(500);
  });
});
