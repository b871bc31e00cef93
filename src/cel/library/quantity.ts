/** Resource quantities: `quantity('1.5Gi')` and their arithmetic. */
import {
  addQuantities,
  compareQuantities,
  expressionTypes,
  parseQuantity,
  type Quantity,
  StatusError,
} from '../../meta/index.ts';
import type { Library } from '../library.ts';
import { boolType, doubleType, intType, opaqueType, stringType } from '../types.ts';
import { CelError, Double, intOf, OpaqueValue, type Value } from '../values.ts';
import { reading } from './costs.ts';
import { functionOf, methodOf } from './overloads.ts';

export const quantityType = opaqueType(`${expressionTypes}.Quantity`);

/**
 * A quantity and the power of ten that it is a multiple of. Quantities that fit in 64 bits as such multiples are
 * `small`. Which ones count as integers depends on it: `1000` does, `1000m` and `1.5Ki` do not.
 */
export class QuantityValue extends OpaqueValue {
  readonly typeName = quantityType.name;
  readonly quantity: Quantity;
  readonly scale: number;
  readonly small: boolean;

  constructor(quantity: Quantity, scale: number, small: boolean) {
    super();
    this.quantity = quantity;
    this.scale = scale;
    this.small = small;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && this.compare(other) === 0;
  }

  compare(other: QuantityValue): number {
    return compareQuantities(this.quantity, other.quantity);
  }

  /** The multiple of the power of ten. */
  get unscaled(): bigint {
    return this.quantity.nano / tenTo(this.scale + nanoDigits);
  }

  /** The integer; undefined when the quantity does not count as one. */
  get integer(): bigint | undefined {
    if (!this.small || this.scale < 0) return undefined;
    const integer = this.quantity.nano / tenTo(nanoDigits);
    return fitsInt(integer) ? integer : undefined;
  }
}

const nanoDigits = 9;
/** The digits of a decimal quantity that is small; binary ones have fewer, for their factor. */
const smallDigits = 18;
const smallBinaryDigits = 14;
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

const tenTo = (power: number): bigint => 10n ** BigInt(power);
const fitsInt = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

/** @throws CelError */
export function quantityOf(text: string): QuantityValue {
  const quantity = parsed(text);
  const [, whole = '', fraction = '', suffix = ''] = /^[+-]?0*(\d*)\.?(\d*)(.*)$/.exec(text) ?? [];
  const digits = Math.max(whole.length, 1) + fraction.length;
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) {
    const room = smallBinaryDigits - binary * 3;
    const small = fraction === '' && digits <= room;
    return new QuantityValue(quantity, small ? 0 : -nanoDigits, small);
  }
  const decimal = decimalSuffixes.indexOf(suffix);
  const scale = (decimal < 0 ? Number(suffix.slice(1)) : decimal * 3 - nanoDigits) - fraction.length;
  const small = digits <= smallDigits && scale >= -nanoDigits;
  return new QuantityValue(quantity, small ? scale : -nanoDigits, small);
}

function parsed(text: string): Quantity {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof StatusError) throw new CelError(error.message);
    throw error;
  }
}

const ofInt = (value: Value): QuantityValue =>
  new QuantityValue({ nano: BigInt(value as number | bigint) * tenTo(nanoDigits), format: 'DecimalExponent' }, 0, true);

const negate = ({ quantity, scale, small }: QuantityValue): QuantityValue =>
  new QuantityValue({ ...quantity, nano: -quantity.nano }, scale, small);

function sum(a: QuantityValue, b: QuantityValue): QuantityValue {
  const quantity = addQuantities(a.quantity, b.quantity);
  const small = a.small && b.small;
  if (small && b.quantity.nano === 0n) return new QuantityValue(quantity, a.scale, true);
  if (small && a.quantity.nano === 0n) return new QuantityValue(quantity, b.scale, true);
  const scale = Math.min(a.scale, b.scale);
  const unit = tenTo(scale + nanoDigits);
  const fits = [a.quantity, b.quantity, quantity].every(({ nano }) => fitsInt(nano / unit));
  return new QuantityValue(quantity, scale, small && fits);
}

const own = (value: Value): QuantityValue => value as QuantityValue;

function toInteger(value: Value): number | bigint {
  const { integer } = own(value);
  if (integer === undefined) throw new CelError('cannot convert value to integer');
  return intOf(integer);
}

function toFloat(value: Value): Double {
  const { unscaled, scale } = own(value);
  return new Double(scale === 0 ? Number(unscaled) : Number(unscaled) * Number(`1e${scale}`));
}

function sign(value: Value): number {
  const { nano } = own(value).quantity;
  return nano < 0n ? -1 : nano > 0n ? 1 : 0;
}

function isQuantity(text: Value): boolean {
  try {
    parseQuantity(text as string);
    return true;
  } catch {
    return false;
  }
}

const two = [quantityType, quantityType];

export const quantityLibrary: Library = {
  name: `${expressionTypes}.quantity`,
  functions: {
    quantity: [
      functionOf('string_to_quantity', [stringType], quantityType, (text) => quantityOf(text as string), reading()),
    ],
    isQuantity: [functionOf('is_quantity_string', [stringType], boolType, isQuantity, reading())],
    // Documented as a member function, declared as another one.
    sign: [
      functionOf('quantity_sign', [quantityType], intType, sign),
      methodOf('quantity_sign_member', [quantityType], intType, sign),
    ],
    isGreaterThan: [methodOf('quantity_is_greater_than', two, boolType, (a, b) => own(a).compare(own(b)) > 0)],
    isLessThan: [methodOf('quantity_is_less_than', two, boolType, (a, b) => own(a).compare(own(b)) < 0)],
    compareTo: [methodOf('quantity_compare_to', two, intType, (a, b) => own(a).compare(own(b)))],
    asApproximateFloat: [methodOf('quantity_get_float', [quantityType], doubleType, toFloat)],
    asInteger: [methodOf('quantity_get_int', [quantityType], intType, toInteger)],
    isInteger: [methodOf('quantity_is_integer', [quantityType], boolType, (a) => own(a).integer !== undefined)],
    add: [
      methodOf('quantity_add', two, quantityType, (a, b) => sum(own(a), own(b))),
      methodOf('quantity_add_int', [quantityType, intType], quantityType, (a, b) => sum(own(a), ofInt(b))),
    ],
    sub: [
      methodOf('quantity_sub', two, quantityType, (a, b) => sum(own(a), negate(own(b)))),
      methodOf('quantity_sub_int', [quantityType, intType], quantityType, (a, b) => sum(own(a), negate(ofInt(b)))),
    ],
  },
};
