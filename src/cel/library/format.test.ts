import { describe, expect, it } from 'vitest';
import type { ListValue, OptionalValue, Value } from '../values.ts';
import { type FormatValue, formatLibrary } from './format.ts';
import { callOf, overloadOf } from './testing/calls.ts';

const names = [
  'dns1123Label',
  'dns1123Subdomain',
  'dns1035Label',
  'qualifiedName',
  'dns1123LabelPrefix',
  'dns1123SubdomainPrefix',
  'dns1035LabelPrefix',
  'labelValue',
  'uri',
  'uuid',
  'byte',
  'date',
  'datetime',
];

const call = callOf(formatLibrary);
const named = (name: string) => call(`format.${name}`) as FormatValue;

function messages(format: string, text: string): Value[] | undefined {
  const { value } = call('validate', named(format), text) as OptionalValue;
  if (value === undefined) return undefined;
  const list = value as ListValue;
  return Array.from({ length: list.size }, (_, i) => list.get(i));
}

describe('format', () => {
  it.each(names)('%s is found by its name and equals itself alone', (name) => {
    const { value } = call('format.named', name) as OptionalValue;
    expect(value).toBe(named(name));
    expect(names.filter((other) => named(name).equals(named(other)))).toEqual([name]);
  });

  it.each(['', 'dns1123label', 'constructor', '__proto__'])('%j is not a format', (name) => {
    expect((call('format.named', name) as OptionalValue).value).toBeUndefined();
  });

  it.each([
    ['dns1123Label', 'my-label-name'],
    ['dns1123Subdomain', 'apps.example.com'],
    ['dns1035Label', 'my-label-name'],
    ['qualifiedName', 'apps.example.com/v1beta1'],
    ['dns1123LabelPrefix', 'my-label-prefix-'],
    ['dns1123SubdomainPrefix', 'mysubdomain.prefix.-'],
    ['dns1035LabelPrefix', 'my-label-prefix-'],
    ['labelValue', 'my-cool-label-Value'],
    ['labelValue', ''],
    ['uri', 'http://example.com'],
    ['uri', '/path'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000'],
    ['uuid', '123E4567E89B12D3A456426614174000'],
    ['byte', 'aGVsbG8='],
    ['byte', 'aGVsbA=='],
    ['byte', 'aGVs'],
    ['date', '2021-01-01'],
    ['date', '2024-02-29'],
    ['date', '0000-12-31'],
    ['datetime', '2021-01-01T00:00:00Z'],
    ['datetime', '2021-01-01t23:59:59.123456+14:30'],
  ])('%s accepts %j', (format, text) => {
    expect(messages(format, text)).toBeUndefined();
  });

  const label =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  const label1035 =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
  const subdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
  it.each([
    ['dns1123Label', 'contains a space', [label]],
    ['dns1123Label', 'a.b', ['must not contain dots']],
    ['dns1123Label', `A${'a'.repeat(63)}`, ['must be no more than 63 characters', label]],
    ['dns1123Subdomain', 'contains a space', [subdomain]],
    ['dns1035Label', '1a', [label1035]],
    ['qualifiedName', '/a', ['prefix part must be non-empty']],
    ['dns1123LabelPrefix', 'contains a space-', [label]],
    ['dns1123LabelPrefix', '-', [label]],
    ['dns1123SubdomainPrefix', 'contains a space-', [subdomain]],
    ['dns1035LabelPrefix', 'contains a space-', [label1035]],
    [
      'labelValue',
      'value!!\n',
      [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    ],
    ['uri', 'example.com', ['parse "example.com": invalid URI for request']],
    ['uuid', '123e4567-e89b-12d3-a456-42661417400', ['does not match the UUID format']],
    ['byte', 'aGVsbG8', ['invalid base64']],
    ['byte', '', ['invalid base64']],
    ['byte', '====', ['invalid base64']],
    ['byte', 'a===', ['invalid base64']],
    ['byte', 'aGV\n', ['invalid base64']],
    ['date', '2020-01-32', ['invalid date']],
    ['date', '2023-02-29', ['invalid date']],
    ['date', '2020-1-01', ['invalid date']],
    ['date', '2020-01-01\n', ['invalid date']],
    ['datetime', '2020-01-32T00:00:00Z', ['invalid datetime']],
    ['datetime', '2020-01-01T24:00:00Z', ['invalid datetime']],
    ['datetime', '2020-01-01T00:00:60Z', ['invalid datetime']],
    ['datetime', '2020-01-01T00:00:00', ['invalid datetime']],
    ['datetime', '2020-01-01', ['invalid datetime']],
  ])('%s refuses %j', (format, text, expected) => {
    expect(messages(format, text)).toEqual(expected);
  });

  it.each([
    ['dns1123Subdomain', 'my-name', 15],
    ['dns1123Label', 'my-name', 8],
    ['uri', '', 276],
    ['datetime', 'x'.repeat(10), 36],
    ['uuid', '', 18],
  ])('validation by %s of %s costs %s', (format, text, cost) => {
    expect(overloadOf(formatLibrary, 'validate').cost?.([named(format), text], null)).toBe(cost);
  });

  it('is estimated as validation by the largest regular expression of names', () => {
    const argument = (size: number) => {
      const range = { min: 0, max: size };
      return { size: range, type: { kind: 'dyn' }, literal: undefined, elementSize: undefined } as const;
    };
    expect(overloadOf(formatLibrary, 'validate').estimate?.([argument(0), argument(11)])).toEqual({
      cost: { min: 0, max: 64 },
    });
  });
});
