import { statusError } from './status-error.ts';

/** The format of a quantity: `1500m`, `1536Ki`, `15e2`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** An exact resource quantity. */
export interface Quantity {
  /** Billionths. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

const NANO = 1_000_000_000n;
/** The maximum of a quantity in binary format. */
const MAX_BINARY = (2n ** 63n - 1n) * NANO;
/** Limits of the text of a quantity, which bound the cost of parsing it. */
const MAX_DIGITS = 1000;
const MAX_EXPONENT = 300;

const SHAPE = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Common quantities that are in canonical form. */
const CANONICAL = /^(?:0|[1-9][0-9]{0,2}(?:m|k|M|G|Ki|Mi|Gi|Ti)?)$/;

const wrong = {
  shape: () => statusError.badRequest(`quantities must match the regular expression '${SHAPE.source}'`),
  number: () => statusError.badRequest('unable to parse numeric part of quantity'),
  suffix: () => statusError.badRequest("unable to parse quantity's suffix"),
};

/**
 * Parses `1`, `500m`, `1.5Gi`, `12e3`. Digits beyond a billionth are rounded away from zero; a quantity in binary
 * format is at most 2^63-1.
 * @throws StatusError 400
 */
export function parseQuantity(text: string): Quantity {
  if (text.length > MAX_DIGITS) throw wrong.number();
  const [, number = '', suffix = ''] = SHAPE.exec(text) ?? [];
  if (number === '') throw wrong.shape();
  const [, sign = '', whole = '', fraction = '', rest = ''] = /^([+-]?)([0-9]*)\.?([0-9]*)(.*)$/.exec(number) ?? [];
  if (rest !== '') throw wrong.shape();
  if (whole === '' && fraction === '') throw wrong.number();
  const { format, exponent, factor } = readSuffix(suffix);
  const digits = BigInt(whole + fraction) * factor;
  const shift = 9 + exponent - fraction.length;
  let nano = shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift));
  if (format === 'BinarySI' && nano > MAX_BINARY) nano = MAX_BINARY;
  return {
    nano: sign === '-' ? -nano : nano,
    format: format === 'BinarySI' && nano > 0n && nano < NANO ? 'DecimalSI' : format,
  };
}

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

function readSuffix(suffix: string): { format: QuantityFormat; exponent: number; factor: bigint } {
  const decimal = DECIMAL.indexOf(suffix);
  if (decimal >= 0) return { format: 'DecimalSI', exponent: decimal * 3 - 9, factor: 1n };
  const binary = BINARY.indexOf(suffix);
  if (binary >= 0) return { format: 'BinarySI', exponent: 0, factor: 1024n ** BigInt(binary) };
  if (!/^[eE][+-]?[0-9]+$/.test(suffix)) throw wrong.suffix();
  const exponent = Number(suffix.slice(1));
  if (Math.abs(exponent) > MAX_EXPONENT) throw wrong.suffix();
  return { format: 'DecimalExponent', exponent, factor: 1n };
}

/** The canonical text: the largest suffix without a fraction. Parses to the same amount. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  const sign = nano < 0n ? '-' : '';
  const size = nano < 0n ? -nano : nano;
  if (format === 'BinarySI' && size >= 1024n * NANO && size % NANO === 0n) {
    let number = size / NANO;
    let power = 0;
    for (; number % 1024n === 0n && power < BINARY.length - 1; power++) number /= 1024n;
    return `${sign}${number}${BINARY[power]}`;
  }
  const all = size.toString();
  const digits = all.replace(/0+$/, '');
  let exponent = all.length - digits.length - 9;
  let zeros = ((exponent % 3) + 3) % 3;
  if (format !== 'DecimalExponent' && exponent > 18) zeros = exponent - 18;
  exponent -= zeros;
  const number = sign + digits + '0'.repeat(zeros);
  if (format === 'DecimalExponent') return exponent === 0 ? number : `${number}e${exponent}`;
  return number + DECIMAL[exponent / 3 + 3];
}

/**
 * The canonical form of the text of a quantity.
 * @throws StatusError 400
 */
export function canonicalQuantity(text: string): string {
  return CANONICAL.test(text) ? text : formatQuantity(parseQuantity(text));
}

/** Negative, zero or positive as `a` is less than, equal to or more than `b`, in any format. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0;
}

/** Adds two quantities. The sum has the format of the first operand that is not zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format };
}

/** Subtracts `b` from `a`. The difference has the format of the first operand that is not zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, nano: -b.nano });
}
