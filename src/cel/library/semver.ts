/** Semantic versions: `semver('1.2.3-alpha.1')` and their order. */

import { expressionTypes, quote } from '../../meta/index.ts';
import { fixed } from '../cost/range.ts';
import type { Library } from '../library.ts';
import { boolType, type CelType, intType, opaqueType, stringType } from '../types.ts';
import { CelError, intOf, OpaqueValue, type Value } from '../values.ts';
import { type Costs, longCost, reading, stringFactor } from './costs.ts';
import { functionOf, methodOf, succeeds } from './overloads.ts';

const semverType = opaqueType(`${expressionTypes}.Semver`);

/** A version without its build metadata, which has no part in the order of versions. */
export class SemverValue extends OpaqueValue {
  readonly typeName = semverType.name;
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** The identifiers of a prerelease: numbers come before names. */
  readonly prerelease: readonly (bigint | string)[];

  readonly #length: number;

  constructor(core: readonly [bigint, bigint, bigint], prerelease: readonly (bigint | string)[], length: number) {
    super();
    this.#length = length;
    [this.major, this.minor, this.patch] = core;
    this.prerelease = prerelease;
  }

  override get size(): number {
    return longCost(this.#length);
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && this.compare(other) === 0;
  }

  compare(other: SemverValue): number {
    return (
      order(this.major, other.major) ||
      order(this.minor, other.minor) ||
      order(this.patch, other.patch) ||
      comparePrereleases(this.prerelease, other.prerelease)
    );
  }
}

const order = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** A version without prerelease comes after those with one; a longer prerelease after its beginning. */
function comparePrereleases(a: readonly (bigint | string)[], b: readonly (bigint | string)[]): number {
  if (a.length === 0 || b.length === 0) return order(b.length, a.length);
  for (const [i, left] of a.entries()) {
    const right = b[i];
    if (right === undefined) break;
    const found = typeof left === typeof right ? order(left, right) : typeof left === 'bigint' ? -1 : 1;
    if (found !== 0) return found;
  }
  return order(a.length, b.length);
}

/** @throws CelError */
function parseVersion(text: string): SemverValue {
  if (text === '') throw new CelError('Version string empty');
  const first = text.indexOf('.');
  const second = first < 0 ? -1 : text.indexOf('.', first + 1);
  if (second < 0) throw new CelError('No Major.Minor.Patch elements found');
  const major = parseElement('major', text.slice(0, first));
  const minor = parseElement('minor', text.slice(first + 1, second));
  const [, digits = '', prerelease, build] =
    /^([^+-]*)(?:-([^+]*))?(?:\+([\s\S]*))?$/.exec(text.slice(second + 1)) ?? [];
  const patch = parseElement('patch', digits);
  const identifiers = prerelease === undefined ? [] : prerelease.split('.').map(parsePrerelease);
  for (const identifier of build?.split('.') ?? []) checkBuild(identifier);
  return new SemverValue([major, minor, patch], identifiers, text.length);
}

function parseElement(name: string, digits: string): bigint {
  if (/[^0-9]/.test(digits)) throw new CelError(`Invalid character(s) found in ${name} number ${quote(digits)}`);
  if (/^0./.test(digits)) {
    const capital = name.charAt(0).toUpperCase() + name.slice(1);
    throw new CelError(`${capital} number must not contain leading zeroes ${quote(digits)}`);
  }
  return parseNumber(digits);
}

const largest = 2n ** 64n - 1n;

/** The number of digits without leading zeros, within 64 bits. */
function parseNumber(digits: string): bigint {
  const failure = (why: string) => new CelError(`strconv.ParseUint: parsing ${quote(digits)}: ${why}`);
  if (digits === '') throw failure('invalid syntax');
  // The length is bounded before the conversion, whose time grows with its square.
  const number = digits.length > 20 ? largest + 1n : BigInt(digits);
  if (number > largest) throw failure('value out of range');
  return number;
}

function parsePrerelease(text: string): bigint | string {
  if (text === '') throw new CelError('Prerelease is empty');
  if (/[^0-9A-Za-z-]/.test(text)) throw new CelError(`Invalid character(s) found in prerelease ${quote(text)}`);
  if (/[^0-9]/.test(text)) return text;
  if (/^0./.test(text)) {
    throw new CelError(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`);
  }
  return parseNumber(text);
}

function checkBuild(text: string): void {
  if (text === '') throw new CelError('Build meta data is empty');
  if (/[^0-9A-Za-z-]/.test(text)) throw new CelError(`Invalid character(s) found in build meta data ${quote(text)}`);
}

/** Removes a leading `v` and leading zeros from a version, and adds missing minor and patch versions. */
function normalizeVersion(text: string): string {
  const [major = '', minor, ...patch] = text.replace(/^v/, '').split('.');
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(patch.length === 0 ? [] : [patch.join('.')])];
  const bare = parts.map((part) => part.replace(/^0+(?=[0-9])/, ''));
  if (bare.length < 3 && /[+-]/.test(bare.at(-1) ?? '')) {
    throw new CelError('short version cannot contain PreRelease/Build meta data');
  }
  return [...bare, '0', '0'].slice(0, 3).join('.');
}

function semverOf(text: Value, normalize: Value = false): SemverValue {
  return parseVersion(normalize === true ? normalizeVersion(text as string) : (text as string));
}

const isSemver = succeeds(semverOf);

const own = (value: Value): SemverValue => value as SemverValue;

/** The costs of a comparison, which reads the shorter version. */
const comparing: Costs = {
  cost: ([a, b]) => Math.ceil(Math.min(own(a as Value).size, own(b as Value).size) * stringFactor),
  estimate: () => ({ cost: fixed(1) }),
};

const comparison = (id: string, result: CelType, read: (sign: number) => boolean | number) =>
  methodOf(id, [semverType, semverType], result, (a, b) => read(own(a).compare(own(b))), comparing);

/** An element as an int: of 64 bits with a sign, as in the reference. */
const element = (id: string, read: (version: SemverValue) => bigint) =>
  methodOf(id, [semverType], intType, (value) => intOf(BigInt.asIntN(64, read(own(value)))));

export const semverLibrary: Library = {
  name: `${expressionTypes}.Semver`,
  functions: {
    semver: [
      functionOf('string_to_semver', [stringType], semverType, (text) => semverOf(text), reading()),
      functionOf('string_bool_to_semver', [stringType, boolType], semverType, semverOf, reading()),
    ],
    isSemver: [
      functionOf('is_semver_string', [stringType], boolType, isSemver, reading()),
      functionOf('is_semver_string_bool', [stringType, boolType], boolType, isSemver, reading()),
    ],
    major: [element('semver_major', ({ major }) => major)],
    minor: [element('semver_minor', ({ minor }) => minor)],
    patch: [element('semver_patch', ({ patch }) => patch)],
    isGreaterThan: [comparison('semver_is_greater_than', boolType, (sign) => sign > 0)],
    isLessThan: [comparison('semver_is_less_than', boolType, (sign) => sign < 0)],
    compareTo: [comparison('semver_compare_to', intType, (sign) => sign)],
  },
};
