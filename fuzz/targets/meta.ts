import {
  canonicalDuration,
  canonicalIp,
  canonicalQuantity,
  canonicalTime,
  cidr,
  compareQuantities,
  configMapKey,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  envVarName,
  formatQuantity,
  httpHeaderName,
  ipAddress,
  type Labels,
  labelValue,
  parseCidr,
  parseFieldSelector,
  parseGroupVersion,
  parseLabelSelector,
  parseQuantity,
  pathSegmentName,
  percent,
  portName,
  qualifiedName,
  quote,
  readIp,
  wildcardDns1123Subdomain,
} from '../../src/meta/index.ts';
import { canonicalBase64 } from '../../src/schema/base64.ts';
import type { Random } from '../random.ts';
import { headerSize, law, type Target } from '../target.ts';
import { anyText } from '../values.ts';

const seedsOf = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const labels: readonly Labels[] = [{}, { a: 'b' }, { a: '1', 'x.y/z': '' }, { constructor: 'c' }];

const labelSelector: Target = {
  name: 'meta-label-selector',
  limit: headerSize,
  seeds: seedsOf('a=b,c!=d', 'x.y/z in (a,b,),!e,f', 'a notin (b),g>1,h<2', 'a==', ''),
  words: [',', '=', '==', '!=', '!', ' in ', ' notin ', '(', ')', '()', ' ', '>', '<', 'a', 'in', '-'],
  generate: (random) => random.list(1, random.power(6), () => labelTerm(random)).join(','),
  run: (bytes) => {
    const selector = parseLabelSelector(textOf(bytes));
    const again = parseLabelSelector(selector.text);
    law(again.text === selector.text, 'the text of a label selector is canonical');
    for (const one of labels) law(again.matches(one) === selector.matches(one), 'its text selects the same');
  },
};

function labelTerm(random: Random): string {
  const key = random.once(6) ? anyText(random) : random.pick(['a', 'c', 'x.y/z', 'in', 'constructor', 'notin']);
  const value = random.once(6) ? anyText(random) : random.pick(['b', '', '1', 'in', '9'.repeat(30)]);
  const set = random.list(0, 4, () => random.pick(['b', 'c', '', ' d '])).join(',');
  return random.pick([
    `${key}=${value}`,
    `${key} in (${set})`,
    `${key} notin(${set})`,
    `!${key}`,
    key,
    `${key}>${value}`,
  ]);
}

const fieldSelector: Target = {
  name: 'meta-field-selector',
  limit: headerSize,
  seeds: seedsOf('metadata.name=a', 'a!=b,c==d\\,e', 'x=\\\\\\=', ''),
  words: [',', '=', '==', '!=', '!', '\\', '\\,', '\\=', '\\\\', 'metadata.name='],
  run: (bytes) => {
    const selector = parseFieldSelector(textOf(bytes));
    const terms = (text: string) =>
      parseFieldSelector(text)
        .terms.map((term) => JSON.stringify(term))
        .sort();
    law(String(terms(selector.text)) === String(terms(textOf(bytes))), 'the text of a field selector reads back');
  },
};

const number = (random: Random) =>
  `${random.pick(['', '-', '+'])}${'9'.repeat(random.below(30))}${random.pick(['', '.'])}${'0'.repeat(random.below(12))}${random.below(1000)}`;

const quantity: Target = {
  name: 'meta-quantity',
  seeds: seedsOf('0', '1Gi', '-500m', '1.5e3', '12E', '0.000000001n', '9223372036854775807'),
  words: ['.', 'e', 'E', '+', '-', 'Ki', 'm', 'n', 'u', 'k', 'Ei', '0', '9', '1e-'],
  generate: (random) =>
    number(random) + random.pick(['', 'n', 'u', 'm', 'k', 'M', 'E', 'Ki', 'Ei', 'e3', 'E-9', 'e300']),
  run: (bytes) => {
    const text = textOf(bytes);
    const canonical = canonicalQuantity(text);
    law(canonicalQuantity(canonical) === canonical, 'a canonical quantity is its own canonical form');
    const amount = parseQuantity(text);
    law(compareQuantities(parseQuantity(canonical), amount) === 0, 'the canonical quantity is the same amount');
    law(compareQuantities(parseQuantity(formatQuantity(amount)), amount) === 0, 'a quantity reads back');
  },
};

const time: Target = {
  name: 'meta-time',
  seeds: seedsOf('2024-02-29T23:59:60Z', '0001-01-01T00:00:00.000001+14:00', '9999-12-31T23:59:59.999999999-00:00'),
  words: ['T', 'Z', ':', '-', '+', '.', '00', '24', '60', '29', '0000', '99999'],
  run: (bytes) => {
    for (const micro of [false, true]) {
      const canonical = canonicalTime(textOf(bytes), micro);
      law(canonicalTime(canonical, micro) === canonical, 'a canonical time is its own canonical form');
    }
  },
};

const duration: Target = {
  name: 'meta-duration',
  seeds: seedsOf('1h30m', '-1.5s', '100ms', '0', '2562047h47m16.854775807s'),
  words: ['h', 'm', 's', 'ms', 'us', 'µs', 'ns', '.', '-', '9', '0.'],
  generate: (random) =>
    random.list(1, 8, () => number(random) + random.pick(['h', 'm', 's', 'ms', 'µs', 'ns', ''])).join(''),
  run: (bytes) => {
    const canonical = canonicalDuration(textOf(bytes));
    law(canonicalDuration(canonical) === canonical, 'a canonical duration is its own canonical form');
  },
};

const rules = [
  cidr,
  configMapKey,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  envVarName,
  httpHeaderName,
  ipAddress,
  labelValue,
  pathSegmentName,
  percent,
  portName,
  qualifiedName,
  wildcardDns1123Subdomain,
];

const nameRules: Target = {
  name: 'meta-names',
  seeds: seedsOf(
    'a',
    'a-b.c',
    'example.com/a_b',
    '*.a',
    '10.0.0.0/8',
    'fd00::1',
    '::ffff:1.2.3.4',
    '50%',
    'http',
    'apps/v1',
  ),
  words: ['-', '.', '_', '/', ':', '::', '%', 'a', 'A', '0', 'a-', '.a', '-.'],
  run: (bytes) => {
    const text = textOf(bytes);
    for (const rule of rules) law(Array.isArray(rule(text)), 'a rule gives its complaints');
    parseGroupVersion(text);
    quote(text);
    const address = canonicalIp(text);
    law(canonicalIp(address) === address, 'a canonical address is its own canonical form');
    law((readIp(text) === undefined) === (readIp(address) === undefined), 'a canonical address is an address');
    parseCidr(text);
  },
};

const base64: Target = {
  name: 'schema-base64',
  seeds: seedsOf('YQ==', 'YWI=', 'YWJj', 'YW\nJj'),
  words: ['=', '==', '\n', '\r', '-', '_', '+', '/', 'AAAA'],
  run: (bytes) => {
    const canonical = canonicalBase64(textOf(bytes));
    if (canonical === undefined) return;
    law(canonicalBase64(canonical) === canonical, 'canonical base64 is its own canonical form');
  },
};

export const metaTargets: readonly Target[] = [
  labelSelector,
  fieldSelector,
  quantity,
  time,
  duration,
  nameRules,
  base64,
];
