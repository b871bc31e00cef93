import { createHash } from 'node:crypto';
import { fieldError } from './field-error.ts';
import { statusError } from './status-error.ts';
import { labelValue, qualifiedName } from './validate-names.ts';

/** `!` is DoesNotExist, `exists` is Exists. */
export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted and unique; exactly one for `=`, `==`, `!=`, `gt`, `lt`; none for `exists` and `!`. */
  readonly values: readonly string[];
}

export interface Labels {
  readonly [key: string]: string;
}

/** A label selector. Without requirements it matches everything. */
export interface LabelSelector {
  /** Ordered by key. */
  readonly requirements: readonly LabelRequirement[];
  /** Canonical text, which parses to an equal selector; empty for a selector of everything. Computed at each call. */
  readonly text: string;
  /** Allocates nothing. */
  matches(labels: Labels | undefined): boolean;
  /** Returns the only value the label may have; undefined when several values match. */
  requires(key: string): string | undefined;
}

/** The maximum length of a selector, in characters. */
const MAX_SELECTOR_LENGTH = 65_536;
/** The maximum number of requirements: each is evaluated for every object of a list and every event of a watch. */
const MAX_REQUIREMENTS = 1_000;

/** The labels of an object without labels. */
const NO_LABELS: Labels = Object.freeze({});

/** A selector of valid requirements. */
export const labelSelector = (requirements: readonly LabelRequirement[]): LabelSelector =>
  new RequirementSelector(requirements);

/** Stores only its requirements: a watch retains its selector for as long as it is open. */
class RequirementSelector implements LabelSelector {
  readonly requirements: readonly LabelRequirement[];

  constructor(requirements: readonly LabelRequirement[]) {
    this.requirements = requirements.map(withSortedValues).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  get text(): string {
    return this.requirements.map(formatRequirement).join(',');
  }

  matches(labels: Labels = NO_LABELS): boolean {
    for (const requirement of this.requirements) {
      // Inherited properties are never strings, so that a label `constructor` needs no special case.
      const value: unknown = labels[requirement.key];
      if (!meets(requirement, typeof value === 'string' ? value : undefined)) return false;
    }
    return true;
  }

  requires(key: string): string | undefined {
    const found = this.requirements.find((requirement) => requirement.key === key);
    const exact = found !== undefined && ['=', '==', 'in'].includes(found.operator) && found.values.length === 1;
    return exact ? found.values[0] : undefined;
  }
}

const withSortedValues = (requirement: LabelRequirement): LabelRequirement =>
  requirement.values.length > 1 ? { ...requirement, values: [...requirement.values].sort() } : requirement;

/** The selector that matches everything. */
export const everything: LabelSelector = labelSelector([]);

function meets({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case '=':
    case '==':
      return value === values[0];
    case '!=':
      return value !== values[0];
    case 'in':
      return value !== undefined && includes(values, value);
    case 'notin':
      return value === undefined || !includes(values, value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const bound = integer(values[0] ?? '');
      const actual = value === undefined ? undefined : integer(value);
      if (actual === undefined || bound === undefined) return false;
      return operator === 'gt' ? actual > bound : actual < bound;
    }
  }
}

/** Whether a sorted list includes a text. */
function includes(sorted: readonly string[], text: string): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === text;
}

/** A whole number of 64 bits in decimal digits. */
function integer(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,64}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

/**
 * Parses `a=b,c in (d,e),!f,g>1`. The empty text selects everything.
 * @throws StatusError 400 with the token found and the tokens expected.
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === '') return everything;
  checkLength(text);
  return text.length < sharedLength ? parseRequirements(text) : sharedSelector(text);
}

/** Requests with the same selector share it from this length on (characters). */
const sharedLength = 256;
/** Long selectors in use, by the hash of their texts. */
const shared = new Map<string, WeakRef<LabelSelector>>();
const releasedSelectors = new FinalizationRegistry<string>((hash) => {
  if (shared.get(hash)?.deref() === undefined) shared.delete(hash);
});

function sharedSelector(text: string): LabelSelector {
  const hash = createHash('sha256').update(text).digest('base64');
  const found = shared.get(hash)?.deref();
  if (found !== undefined) return found;
  const selector = parseRequirements(text);
  shared.set(hash, new WeakRef(selector));
  releasedSelectors.register(selector, hash);
  return selector;
}

function parseRequirements(text: string): LabelSelector {
  const tokens = tokenize(text);
  const requirements: LabelRequirement[] = [];
  let next = 0;
  for (;;) {
    const token = tokens[next] as Token;
    if (token.type === 'end') break;
    if (token.type !== 'word' && token.text !== '!') {
      throw statusError.badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`);
    }
    next = parseRequirement(tokens, next, requirements);
    checkCount(requirements.length);
    const after = tokens[next++] as Token;
    if (after.type === 'end') break;
    if (after.text !== ',') {
      throw statusError.badRequest(`found '${after.text}', expected: ',' or 'end of string'`);
    }
    const following = tokens[next] as Token;
    if (following.type !== 'word' && following.text !== '!') {
      throw statusError.badRequest(`found '${following.text}', expected: identifier after ','`);
    }
  }
  return labelSelector(requirements);
}

function checkLength(text: string): void {
  if (text.length > MAX_SELECTOR_LENGTH) {
    throw statusError.badRequest(`selector is too long: may not be more than ${MAX_SELECTOR_LENGTH} characters`);
  }
}

function checkCount(requirements: number): void {
  if (requirements > MAX_REQUIREMENTS) {
    throw statusError.badRequest(`selector is too long: may not be more than ${MAX_REQUIREMENTS} requirements`);
  }
}

interface Token {
  readonly type: 'word' | 'symbol' | 'end';
  readonly text: string;
}

/** Words and symbols, followed by two `end` tokens, so that a lookahead of one token needs no check. */
function tokenize(text: string): Token[] {
  const end: Token = { type: 'end', text: '' };
  const found = text.match(/[=!]=|[=!(),<>]|[^=!(),<> \t\r\n]+/g) ?? [];
  return [...found.map((part): Token => ({ type: /^[=!(),<>]/.test(part) ? 'symbol' : 'word', text: part })), end, end];
}

const OPERATORS = new Map<string, LabelOperator>([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

const unparsable = (why: string) => statusError.badRequest(`unable to parse requirement: ${why}`);

/** Appends the requirement at `start` and returns the index of the token after it. */
function parseRequirement(tokens: readonly Token[], start: number, out: LabelRequirement[]): number {
  let next = start;
  const negated = (tokens[next] as Token).text === '!';
  if (negated) next++;
  const key = tokens[next++] as Token;
  if (key.type !== 'word') throw unparsable(`found '${key.text}', expected: identifier`);
  const errors = qualifiedName(key.text);
  if (errors.length > 0) {
    throw unparsable(`<nil>: ${fieldError.invalid('', key.text, errors.join('; ')).message}`);
  }
  const after = tokens[next] as Token;
  if (negated || after.type === 'end' || after.text === ',') {
    out.push({ key: key.text, operator: negated ? '!' : 'exists', values: [] });
    return next;
  }
  const operator = OPERATORS.get(after.text);
  if (operator === undefined) {
    throw unparsable(`found '${after.text}', expected: in, notin, =, ==, !=, gt, lt`);
  }
  next++;
  const values: string[] = [];
  next = operator === 'in' || operator === 'notin' ? parseSet(tokens, next, values) : parseOne(tokens, next, values);
  out.push(checkRequirement({ key: key.text, operator, values: [...new Set(values)].sort() }));
  return next;
}

function parseOne(tokens: readonly Token[], start: number, out: string[]): number {
  const token = tokens[start] as Token;
  if (token.type === 'end' || token.text === ',') {
    out.push('');
    return start;
  }
  if (token.type !== 'word') throw unparsable(`found '${token.text}', expected: identifier`);
  out.push(token.text);
  return start + 1;
}

/** Parses `(a,b)`. Nothing between commas or parentheses is the empty value. */
function parseSet(tokens: readonly Token[], start: number, out: string[]): number {
  const open = tokens[start] as Token;
  if (open.text !== '(') throw unparsable(`found '${open.text}' expected: '('`);
  let next = start + 1;
  let place = "',', ')' or identifier";
  for (;;) {
    let token = tokens[next] as Token;
    if (token.type === 'word') {
      out.push(token.text);
      token = tokens[++next] as Token;
      place = "',' or ')'";
    } else if (token.text === ',' || token.text === ')') {
      out.push('');
    }
    if (token.text === ')') return next + 1;
    if (token.text !== ',') throw unparsable(`found '${token.text}', expected: ${place}`);
    next++;
    place = "',', or identifier";
  }
}

function checkRequirement(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const found: string[] = [];
  values.forEach((value, i) => {
    if ((operator === 'gt' || operator === 'lt') && integer(value) === undefined) {
      const why = "for 'Gt', 'Lt' operators, the value must be an integer";
      found.push(`values[${i}]: ${fieldError.invalid('', value, why).message}`);
    }
    const errors = labelValue(value);
    if (errors.length > 0) {
      found.push(`values[${i}][${key}]: ${fieldError.invalid('', value, errors.join('; ')).message}`);
    }
  });
  if (found.length > 0) throw unparsable(found.length === 1 ? (found[0] as string) : `[${found.join(', ')}]`);
  return requirement;
}

/** A requirement of a field selector: equal to the value, or not equal with `not`. */
export interface FieldTerm {
  readonly field: string;
  readonly value: string;
  readonly not: boolean;
}

/** A field selector; an absent field is the empty string. */
export interface FieldSelector {
  readonly terms: readonly FieldTerm[];
  /** Canonical text, which parses to an equal selector. */
  readonly text: string;
  /** Allocates nothing. */
  readonly matches: (fields: { readonly [field: string]: string } | undefined) => boolean;
  /** Returns the only value the field may have; undefined when several values match. */
  readonly requires: (field: string) => string | undefined;
}

export function fieldSelector(terms: readonly FieldTerm[]): FieldSelector {
  return {
    terms,
    text: terms.map(({ field, value, not }) => `${field}${not ? '!=' : '='}${escapeValue(value)}`).join(','),
    matches: (fields = NO_LABELS) => {
      for (const { field, value, not } of terms) {
        const actual: unknown = fields[field];
        if (((typeof actual === 'string' ? actual : '') === value) === not) return false;
      }
      return true;
    },
    requires: (field) => terms.find((term) => term.field === field && !term.not)?.value,
  };
}

/** Escapes `\`, `,` and `=` for {@link parseFieldSelector}. */
const escapeValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

/**
 * Parses `metadata.name=a,spec.x!=b`; in values `\`, `,` and `=` are escaped with a backslash.
 * @throws StatusError 400
 */
export function parseFieldSelector(text: string): FieldSelector {
  checkLength(text);
  const parts = text.match(/(?:\\[\s\S]|[^\\,]|\\$)+/g) ?? [];
  checkCount(parts.length);
  const terms = parts.sort().map((part): FieldTerm => {
    const [, field, operator, value] = /^([^=!]*(?:!(?!=)[^=!]*)*)(!=|==?)([\s\S]*)$/.exec(part) ?? [];
    if (field === undefined || operator === undefined || value === undefined) {
      throw statusError.badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    }
    return { field, value: unescapeValue(value), not: operator === '!=' };
  });
  return fieldSelector(terms);
}

function unescapeValue(value: string): string {
  return value.replace(/\\([\s\S]?)|[,=]/g, (found: string, escaped: string | undefined) => {
    if (escaped === undefined) {
      throw statusError.badRequest(`invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`);
    }
    if (!['\\', ',', '='].includes(escaped)) {
      throw statusError.badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    }
    return escaped;
  });
}
