/** Named formats of strings: `format.dns1123Label().validate(name)` gives what is wrong with a name. */

import {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  expressionTypes,
  isBase64,
  isDate,
  isDateTime,
  isUuid,
  labelValue,
  type NameRule,
  qualifiedName,
} from '../../meta/index.ts';
import { scale } from '../cost/range.ts';
import { codePoints } from '../evaluation-cache.ts';
import type { Library } from '../library.ts';
import { listType, opaqueType, optionalType, stringType } from '../types.ts';
import { ListValue, OpaqueValue, OptionalValue, type Value } from '../values.ts';
import { type Costs, regexFactor, sizeOf, stringFactor } from './costs.ts';
import { parseRequestUri } from './go-url.ts';
import { functionOf, methodOf } from './overloads.ts';

/** The longest name of a format. */
const maxName = 64;

const formatType = opaqueType(`${expressionTypes}.NamedFormat`, maxName);

export class FormatValue extends OpaqueValue {
  readonly typeName = formatType.name;
  readonly rule: NameRule;
  /** The size of a regular expression that is as costly, in characters. */
  readonly regexSize: number;

  constructor(regexSize: number, rule: NameRule) {
    super();
    this.rule = rule;
    this.regexSize = regexSize;
  }

  equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

/** A rule for the start of a generated name, which may end with a hyphen. */
const prefixOf =
  (rule: NameRule): NameRule =>
  (text) =>
    rule(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

const test =
  (message: string, holds: (text: string) => boolean): NameRule =>
  (text) =>
    holds(text) ? [] : [message];

const uri: NameRule = (text) => {
  try {
    parseRequestUri(text);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
};

/** By name. */
const formats = new Map([
  ['dns1123Label', new FormatValue(30, dns1123Label)],
  ['dns1123Subdomain', new FormatValue(60, dns1123Subdomain)],
  ['dns1035Label', new FormatValue(30, dns1035Label)],
  ['qualifiedName', new FormatValue(60, qualifiedName)],
  ['dns1123LabelPrefix', new FormatValue(30, prefixOf(dns1123Label))],
  ['dns1123SubdomainPrefix', new FormatValue(60, prefixOf(dns1123Subdomain))],
  ['dns1035LabelPrefix', new FormatValue(30, prefixOf(dns1035Label))],
  ['labelValue', new FormatValue(40, labelValue)],
  ['uri', new FormatValue(1103, uri)],
  ['uuid', new FormatValue(70, test('does not match the UUID format', isUuid))],
  ['byte', new FormatValue(84, test('invalid base64', isBase64))],
  ['date', new FormatValue(71, test('invalid date', isDate))],
  ['datetime', new FormatValue(71, test('invalid datetime', isDateTime))],
]);

function validate(format: Value, text: Value): OptionalValue {
  const messages = (format as FormatValue).rule(text as string);
  return new OptionalValue(messages.length === 0 ? undefined : new ListValue(messages));
}

/** The size of the regular expression of any format of names, which estimates assume. */
const largestRegex = 128;

const validation: Costs = {
  cost: ([format, text]) =>
    Math.ceil((1 + codePoints(text as string)) * stringFactor) *
    Math.ceil((format as FormatValue).regexSize * regexFactor),
  estimate: (args) => ({ cost: scale(scale(sizeOf(args, 1), stringFactor), largestRegex * regexFactor) }),
};

export const formatLibrary: Library = {
  name: `${expressionTypes}.format`,
  functions: {
    'format.named': [
      functionOf(
        'format-named',
        [stringType],
        optionalType(formatType),
        (name) => new OptionalValue(formats.get(name as string)),
      ),
    ],
    ...Object.fromEntries(
      [...formats].map(([name, format]) => [
        `format.${name}`,
        [functionOf(`format.${name}`, [], formatType, () => format)],
      ]),
    ),
    validate: [
      methodOf('format-validate', [formatType, stringType], optionalType(listType(stringType)), validate, validation),
    ],
  },
};
