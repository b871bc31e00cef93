import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cIdentifier,
  cidr,
  configMapKey,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  envVarName,
  httpHeaderName,
  ipAddress,
  labelValue,
  type NameRule,
  pathSegmentName,
  pathSegmentPrefix,
  percent,
  portName,
  portNumber,
  qualifiedName,
  wildcardDns1123Subdomain,
} from './validate-names.ts';

describe('names', () => {
  // Wordings as recorded in test/reference (objects.names, kinds.*).
  it.each<[string, NameRule, string, string[]]>([
    [
      'object name',
      dns1123Subdomain,
      'Bad_Name',
      [
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [
      'namespace name',
      dns1123Label,
      'Bad.Ns',
      [
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'version of an API service',
      dns1035Label,
      '',
      [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [
      'label key',
      qualifiedName,
      'bad key!',
      [
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [
      'label value',
      labelValue,
      'bad value!',
      [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    [
      'config key',
      configMapKey,
      'bad key',
      [
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    ['address', ipAddress, 'nope', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['network', cidr, 'x', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    ['dots in a label', dns1123Label, 'a.b', ['must not contain dots']],
    ['empty prefix', qualifiedName, '/a', ['prefix part must be non-empty']],
    ['out of the directory', configMapKey, '..a', ["must not start with '..'"]],
    ['parent directory', configMapKey, '..', ["must not be '..'"]],
    ['path of dots', pathSegmentName, '..', ["may not be '..'"]],
    ['slash in a path segment', pathSegmentName, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
    [
      'port name',
      portName,
      '-8--0-',
      [
        'must contain at least one letter (a-z)',
        'must not contain consecutive hyphens',
        'must not begin or end with a hyphen',
      ],
    ],
  ])('%s', (_, rule, value, messages) => {
    expect(rule(value)).toEqual(messages);
  });

  it.each<[NameRule, string[], string[]]>([
    [dns1123Subdomain, ['a', 'a-b.c', '1.2', 'a--b'], ['', '-a', 'a-', 'a..b', 'a.-b', 'A', 'a_b', 'a\n']],
    [dns1123Label, ['a', '9-a'], ['', 'a.b', 'a-', 'ä']],
    [dns1035Label, ['a', 'a9', 'a-9'], ['9a', 'a-', '']],
    [wildcardDns1123Subdomain, ['*.bar.com', '*.foo.bar.com'], ['*.*.bar.com', '*bar.com', 'f*.bar.com', '*', 'a.b']],
    [qualifiedName, ['a', 'A.b_c-d', 'example.com/MyName'], ['', 'a/', 'a/b/c', 'A.com/x', '-a']],
    [labelValue, ['', 'a', 'A_b'], ['-a', 'a b', 'a/b']],
    [configMapKey, ['.a', 'A_b-c.d', '...'.slice(0, 1).concat('x')], ['', '.', '..', 'a/b']],
    [cIdentifier, ['a', '_A9'], ['', '9a', 'a-b']],
    [envVarName, ['A', 'my.env-name', '9'], ['', 'a=b', 'ä', 'a\tb']],
    [portName, ['http', 'a1', '0a'], ['', '80', 'HTTP', 'a'.repeat(16)]],
    [percent, ['0%', '93%'], ['', '%', '1', '-1%']],
    [httpHeaderName, ['X-A'], ['', 'a b', 'a_b']],
    [ipAddress, ['1.2.3.4', '::1'], ['', '01.2.3.4', '1.2.3', 'fe80::1%eth0']],
    [cidr, ['10.0.0.0/8', '::/0', '1.2.3.4/32'], ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/08', '1.1.1.1/8/8']],
    [pathSegmentPrefix, ['.', '..', 'a'], ['a/']],
  ])('%o', (rule, good, bad) => {
    for (const value of good) expect([value, rule(value)]).toEqual([value, []]);
    for (const value of bad) expect([value, rule(value).length > 0]).toEqual([value, true]);
  });

  it('limits count bytes', () => {
    expect(dns1123Label('a'.repeat(63))).toEqual([]);
    expect(dns1123Label('a'.repeat(64))).toEqual(['must be no more than 63 characters']);
    expect(dns1123Subdomain('a'.repeat(254))).toEqual(['must be no more than 253 characters']);
    expect(labelValue('ä'.repeat(32))).toHaveLength(2);
    expect(portNumber(0)).toEqual(['must be between 1 and 65535, inclusive']);
  });

  it('accepts exactly what the quoted regular expression accepts', () => {
    const rules = [dns1123Subdomain, dns1123Label, dns1035Label, labelValue, wildcardDns1123Subdomain, cIdentifier];
    const shown = rules.map((rule) => {
      const [, expression] = /regex used for validation is '(.*)'\)$/.exec(rule('\u0000').at(-1) as string) ?? [];
      return new RegExp(`^(?:${expression})$`);
    });
    const text = fc.string({ unit: fc.constantFrom('a', 'B', '1', '-', '.', '_', '*', '!'), maxLength: 12 });
    fc.assert(
      fc.property(text, (value) => {
        rules.forEach((rule, i) => {
          expect([value, rule(value).length === 0]).toEqual([value, (shown[i] as RegExp).test(value)]);
        });
      }),
    );
  });

  it('validates a hostile text of a megabyte', () => {
    // A pattern with two ways to read a text would not come back from this in a lifetime.
    for (const rule of [dns1123Subdomain, qualifiedName, labelValue, wildcardDns1123Subdomain, dns1035Label]) {
      expect(rule(`${'a-'.repeat(500_000)}!`).length).toBeGreaterThan(0);
      expect(rule(`${'a'.repeat(1_000_000)}!`).length).toBeGreaterThan(0);
    }
  });
});
