import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identifierOf, propertyOf } from './identifiers.ts';

describe('identifiers of properties', () => {
  it.each([
    ['a', 'a'],
    ['a-b', 'a__dash__b'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['a___b', 'a__underscores___b'],
    ['_a', '_a'],
    ['namespace', '__namespace__'],
    ['in', '__in__'],
    ['int', 'int'],
    ['__namespace__', '__underscores__namespace__underscores__'],
    ['__dash__', '__underscores__dash__underscores__'],
    ['constructor', 'constructor'],
  ])('%s is %s', (property, identifier) => {
    expect(identifierOf(property)).toBe(identifier);
    expect(propertyOf(identifier)).toBe(property);
  });

  it.each(['', '1a', 'a b', 'ä', 'a$', '-\n'])('%j has none', (property) => {
    expect(identifierOf(property)).toBeUndefined();
  });

  it.each(['a__b', 'a__nope__b', '__int__', '__dash'])('no property has the identifier %s', (identifier) => {
    expect(propertyOf(identifier)).toBeUndefined();
  });

  it('a reserved word also selects its property as it is', () => {
    expect(propertyOf('namespace')).toBe('namespace');
  });

  it('returns from every identifier to its property', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z_./-][a-z0-9_./-]{0,12}$/), (property) => {
        expect(propertyOf(identifierOf(property) as string)).toBe(property);
      }),
    );
  });
});
