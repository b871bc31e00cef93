import { isIP } from 'node:net';
import { parseCidr } from './ip.ts';

/** A name validation: the errors of a value, empty when it is valid. */
export type NameRule = (value: string) => string[];

/**
 * A form of names. `pattern` accepts exactly what `shown`, the regular expression in messages, accepts; it is
 * unambiguous, so that matching takes linear time.
 */
interface Form {
  readonly pattern: RegExp;
  readonly expression: string;
  readonly what: string;
  readonly examples: readonly string[];
  /** Longest value in bytes. */
  readonly max?: number;
}

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const forms = {
  label: {
    pattern: /^[a-z0-9]+(?:-+[a-z0-9]+)*$/,
    expression: LABEL,
    what: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    examples: ['my-name', '123-abc'],
    max: 63,
  },
  subdomain: {
    pattern: /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/,
    expression: SUBDOMAIN,
    what: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    examples: ['example.com'],
    max: 253,
  },
  wildcard: {
    pattern: /^\*\.[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/,
    expression: `\\*\\.${SUBDOMAIN}`,
    what: "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    examples: ['*.example.com'],
    max: 253,
  },
  label1035: {
    pattern: /^[a-z][a-z0-9]*(?:-+[a-z0-9]+)*$/,
    expression: '[a-z]([-a-z0-9]*[a-z0-9])?',
    what: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    examples: ['my-name', 'abc-123'],
    max: 63,
  },
  qualified: {
    pattern: /^[A-Za-z0-9]+(?:[-_.]+[A-Za-z0-9]+)*$/,
    expression: QUALIFIED,
    what: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: ['MyName', 'my.name', '123-abc'],
    max: 63,
  },
  labelValue: {
    pattern: /^(?:[A-Za-z0-9]+(?:[-_.]+[A-Za-z0-9]+)*)?$/,
    expression: '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?',
    what: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: ['MyValue', 'my_value', '12345'],
    max: 63,
  },
  configKey: {
    pattern: /^[-._a-zA-Z0-9]+$/,
    expression: '[-._a-zA-Z0-9]+',
    what: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    examples: ['key.name', 'KEY_NAME', 'key-name'],
    max: 253,
  },
  cIdentifier: {
    pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    expression: '[A-Za-z_][A-Za-z0-9_]*',
    what: "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
    examples: ['my_name', 'MY_NAME', 'MyName'],
  },
  percent: {
    pattern: /^[0-9]+%$/,
    expression: '[0-9]+%',
    what: "a valid percent string must be a numeric string followed by an ending '%'",
    examples: ['1%', '93%'],
  },
  httpHeader: {
    pattern: /^[-A-Za-z0-9]+$/,
    expression: '[-A-Za-z0-9]+',
    what: "a valid HTTP header must consist of alphanumeric characters or '-'",
    examples: ['X-Header-Name'],
  },
} satisfies { [name: string]: Form };

function formError({ what, examples, expression }: Form): string {
  return `${what} (e.g. ${examples.map((e) => `'${e}'`).join(',  or ')}, regex used for validation is '${expression}')`;
}

function longerThan(value: string, bytes: number): boolean {
  return value.length > bytes || (value.length * 3 > bytes && Buffer.byteLength(value) > bytes);
}

/** The reference server counts bytes, and calls them characters except in keys and values of labels. */
type Unit = 'bytes' | 'characters';

const tooLong = (max: number, unit: Unit = 'characters'): string => `must be no more than ${max} ${unit}`;

const fits = ({ max = Infinity, pattern }: Form, value: string): boolean =>
  !longerThan(value, max) && pattern.test(value);

function check(form: Form, value: string, unit?: Unit): string[] {
  if (fits(form, value)) return [];
  const errors: string[] = [];
  if (form.max !== undefined && longerThan(value, form.max)) errors.push(tooLong(form.max, unit));
  if (!form.pattern.test(value)) errors.push(formError(form));
  return errors;
}

/** Lower case letters, digits, `-` and `.`, at most 253. The usual rule for object names. */
export const dns1123Subdomain: NameRule = (value) => check(forms.subdomain, value);

/** Lower case letters, digits and `-`, at most 63. */
export const dns1123Label: NameRule = (value) => {
  const errors = check(forms.label, value);
  // A subdomain that is not a label has dots as its only error.
  return errors.length > 0 && !forms.label.pattern.test(value) && forms.subdomain.pattern.test(value)
    ? [...errors.slice(0, -1), 'must not contain dots']
    : errors;
};

/** As a DNS-1123 label, but starting with a letter. */
export const dns1035Label: NameRule = (value) => check(forms.label1035, value);

/** `*.` and a subdomain. */
export const wildcardDns1123Subdomain: NameRule = (value) => check(forms.wildcard, value);

/** `name` or `prefix/name`: keys of labels and annotations, finalizers. */
export const qualifiedName: NameRule = (value) => {
  const slash = value.indexOf('/');
  const good =
    fits(forms.qualified, value.slice(slash + 1)) && (slash < 0 || fits(forms.subdomain, value.slice(0, slash)));
  if (good) return [];
  if (slash !== value.lastIndexOf('/')) {
    return [
      `a valid label key ${formError(forms.qualified)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const errors: string[] = [];
  if (slash === 0) errors.push('prefix part must be non-empty');
  else if (slash > 0)
    for (const why of check(forms.subdomain, value.slice(0, slash), 'bytes')) errors.push(`prefix part ${why}`);
  const name = value.slice(slash + 1);
  if (name === '') errors.push('name part must be non-empty');
  for (const why of check(forms.qualified, name, 'bytes')) errors.push(`name part ${why}`);
  return errors;
};

/** Value of a label: empty, or letters, digits, `-`, `_` and `.`, at most 63. */
export const labelValue: NameRule = (value) => check(forms.labelValue, value, 'bytes');

/** A valid segment of a URL path. */
export const pathSegmentName: NameRule = (value) => {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return pathSegmentPrefix(value);
};

/** As {@link pathSegmentName} for a generateName: `.` and `..` are allowed. */
export const pathSegmentPrefix: NameRule = (value) =>
  /[/%]/.test(value)
    ? ['/', '%'].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`)
    : [];

export const cIdentifier: NameRule = (value) => check(forms.cIdentifier, value);

/** Printable ASCII without `=`. */
export const envVarName: NameRule = (value) => {
  if (value === '') return ['environment variable name must be non-empty'];
  return /^[ -<>-~]+$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
};

/** Key of a config map or secret, which may be a file name: never `..` or a name that starts with it. */
export const configMapKey: NameRule = (value) => {
  const errors = check(forms.configKey, value);
  if (value === '.' || value === '..') errors.push(`must not be '${value}'`);
  else if (value.startsWith('..')) errors.push("must not start with '..'");
  return errors;
};

/** Name of a port: at most 15 lower case letters, digits and single hyphens, with a letter. */
export const portName: NameRule = (value) => {
  const errors: string[] = [];
  if (longerThan(value, 15)) errors.push(tooLong(15));
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)');
  if (value.includes('--')) errors.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
};

export const percent: NameRule = (value) => check(forms.percent, value);
export const httpHeaderName: NameRule = (value) => check(forms.httpHeader, value);

/** An inclusive range. */
export function inRange(value: number, low: number, high: number): string[] {
  return value >= low && value <= high ? [] : [`must be between ${low} and ${high}, inclusive`];
}

export const portNumber = (value: number): string[] => inRange(value, 1, 65535);

/** An IPv4 or IPv6 address without a zone. */
export const ipAddress: NameRule = (value) =>
  isIP(value) !== 0 && !value.includes('%') ? [] : ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'];

/** An address and the length of a prefix. */
export const cidr: NameRule = (value) =>
  parseCidr(value) !== undefined ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];
