/** Messages of the name rules. */
const example = (examples: string, form: string) => `(e.g. ${examples}, regex used for validation is '${form}')`;

export const says = {
  label: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character ${example("'my-name',  or '123-abc'", '[a-z0-9]([-a-z0-9]*[a-z0-9])?')}`,
  label1035: `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character ${example("'my-name',  or 'abc-123'", '[a-z]([-a-z0-9]*[a-z0-9])?')}`,
  subdomain: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character ${example("'example.com'", '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')}`,
  qualified: `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character ${example("'MyName',  or 'my.name',  or '123-abc'", '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')}`,
  configKey: `a valid config key must consist of alphanumeric characters, '-', '_' or '.' ${example("'key.name',  or 'KEY_NAME',  or 'key-name'", '[-._a-zA-Z0-9]+')}`,
  ip: 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  cidr: 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  port: 'must be between 1 and 65535, inclusive',
  portName: 'must contain at least one letter (a-z)',
} as const;

/** The message of an Invalid error. */
export const invalid = (value: unknown, why: string): string => `Invalid value: ${JSON.stringify(value)}: ${why}`;
export const required = (why: string): string => `Required value: ${why}`;
export const forbidden = (why: string): string => `Forbidden: ${why}`;
export const duplicate = (value: unknown): string => `Duplicate value: ${JSON.stringify(value)}`;
export const unsupported = (value: unknown, ...supported: string[]): string =>
  `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((one) => `"${one}"`).join(', ')}`;
export const missing = 'Required value';
export const immutable = (value: unknown): string => invalid(value, 'field is immutable');
