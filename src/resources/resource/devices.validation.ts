/** Validation that the kinds of the group share. Paths are those of v1beta2. */
import {
  cIdentifier,
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  isJsonObject,
  type Json,
  labelValue,
  qualifiedName,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  DeviceConfiguration,
  DeviceSelector,
  DeviceTaint,
  DeviceToleration,
} from '../../types/resource-v1beta2.ts';
import { validateDriverName } from '../core/persistent-volume-sources.ts';
import { byRule, eachOf, oneOf, unique } from '../shared/field-rules.ts';

const MAX_SELECTORS = 32;
export const MAX_EXPRESSION = 10 * 1024;
const MAX_POOL = 253;
const MAX_IDENTIFIER = 32;
const MAX_PARAMETERS = 10 * 1024;
export const MAX_CONFIGS = 32;
export const MAX_TOLERATIONS = 16;
export const MAX_TAINTS = 4;

type Rule<T> = (entry: T, path: string, index: number) => FieldError[];

/** Validates each entry of a list and its length. */
export function validateList<T>(
  list: readonly T[] | undefined,
  max: number,
  path: string,
  rule: Rule<T>,
): FieldError[] {
  const errors = eachOf(list, path, rule);
  const count = list?.length ?? 0;
  return count > max ? [...errors, fieldError.tooMany(path, count, max)] : errors;
}

/** Validates a list whose entries have unique names. */
export const validateNamed = <T extends { name?: string }>(
  list: readonly T[] | undefined,
  max: number,
  path: string,
  rule: Rule<T>,
): FieldError[] => [...validateList(list, max, path, rule), ...unique(list, path, ({ name = '' }) => name, '.name')];

export const validateLabel = (name: string, path: string): FieldError[] => byRule(path, name, dns1123Label);

export const validateDriver = (name: string, path: string): FieldError[] =>
  name === '' ? [fieldError.required(path)] : validateDriverName(name, path);

export const validateClass = (name: string, path: string): FieldError[] =>
  name === '' ? [fieldError.required(path)] : byRule(path, name, dns1123Subdomain);

/** Validates a pool name: subdomains separated by slashes. */
export function validatePool(name: string, path: string): FieldError[] {
  if (name === '') return [fieldError.required(path)];
  const errors = Buffer.byteLength(name) > MAX_POOL ? [fieldError.tooLong(path, MAX_POOL)] : [];
  return [...errors, ...name.split('/').flatMap((part) => byRule(path, part, dns1123Subdomain))];
}

/** Validates a qualified name of an attribute or capacity: with a domain unless the driver defines it. */
export function validateQualified(name: string, path: string): FieldError[] {
  if (name === '') return [fieldError.required(path, 'name required')];
  const [first = '', second, ...more] = name.split('/', 3);
  if (second === undefined) return validateIdentifier(first, path);
  if (more.length > 0) return [fieldError.invalid(path, name, 'must have at most one slash')];
  return [
    ...(first === '' ? [fieldError.required(path, 'the domain must not be empty')] : validateDriver(first, path)),
    ...(second === '' ? [fieldError.required(path, 'the name must not be empty')] : validateIdentifier(second, path)),
  ];
}

function validateIdentifier(name: string, path: string): FieldError[] {
  const errors = Buffer.byteLength(name) > MAX_IDENTIFIER ? [fieldError.tooLong(path, MAX_IDENTIFIER)] : [];
  return [...errors, ...cIdentifier(name).map((why) => fieldError.typeInvalid(path, name, why))];
}

/** Validates device selectors; see `device-selectors.validation.ts` for their expressions. */
export const validateSelectors = (selectors: readonly Infer<typeof DeviceSelector>[] | undefined, path: string) =>
  validateList(selectors, MAX_SELECTORS, path, ({ cel }, at) => {
    if (cel === undefined) return [fieldError.required(`${at}.cel`)];
    const { expression = '' } = cel;
    return Buffer.byteLength(expression) > MAX_EXPRESSION
      ? [fieldError.tooLong(`${at}.cel.expression`, MAX_EXPRESSION)]
      : [];
  });

/** The size of a value as JSON, in bytes. */
const sizeOf = (value: Json): number =>
  Buffer.byteLength(JSON.stringify(value, (_, part: Json) => (typeof part === 'bigint' ? Number(part) : part)));

/** Validates opaque parameters; the limit of stored ones is higher. */
export function validateParameters(value: Json | undefined, path: string, stored: boolean): FieldError[] {
  if (value === undefined || value === null) return [fieldError.required(path)];
  if (!stored && sizeOf(value) > MAX_PARAMETERS) return [fieldError.tooLong(path, MAX_PARAMETERS)];
  return isJsonObject(value)
    ? []
    : [fieldError.invalid(path, '<value omitted>', 'parameters must be a valid JSON object')];
}

export function validateConfiguration(
  { opaque }: Infer<typeof DeviceConfiguration>,
  path: string,
  stored: boolean,
): FieldError[] {
  if (opaque === undefined) return [fieldError.required(`${path}.opaque`)];
  const { driver = '', parameters } = opaque;
  return [
    ...validateDriver(driver, `${path}.opaque.driver`),
    ...validateParameters(parameters, `${path}.opaque.parameters`, stored),
  ];
}

const effects = ['NoExecute', 'NoSchedule'];

export function validateTaint({ key = '', value = '', effect = '' }: Infer<typeof DeviceTaint>, path: string) {
  return [
    ...byRule(`${path}.key`, key, qualifiedName),
    ...byRule(`${path}.value`, value, labelValue),
    ...(effect === '' ? [fieldError.required(`${path}.effect`)] : oneOf(`${path}.effect`, effect, effects)),
  ];
}

export function validateToleration(toleration: Infer<typeof DeviceToleration>, path: string): FieldError[] {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  const errors = key === '' ? [] : byRule(`${path}.key`, key, qualifiedName);
  const at = `${path}.value`;
  if (operator === 'Equal') errors.push(...byRule(at, value, labelValue));
  else if (operator === 'Exists') {
    if (value !== '') errors.push(fieldError.invalid(at, value, 'must be empty for operator `Exists`'));
  } else errors.push(...oneOf(`${path}.operator`, operator, ['Equal', 'Exists']));
  return effect === '' ? errors : [...errors, ...oneOf(`${path}.effect`, effect, effects)];
}
