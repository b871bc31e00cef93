/** Numbers as texts, as Go writes and reads them. */

/** The shortest text that reads back as the number, without an exponent: `0.000001`. */
export function decimalText(value: number): string {
  const { sign, digits, point } = digitsOf(value);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Go's `%g`: the shortest text that reads back, with an exponent when that is less than -4 or more than 5. */
export function shortText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const { sign, digits, point } = digitsOf(value);
  const exponent = point - 1;
  if (exponent >= -4 && exponent < 6) return decimalText(value);
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${sign}${digits[0]}${fraction}e${exponentText(exponent)}`;
}

/** Go's `%.<precision>f` of a finite number. */
export function fixedText(value: number, precision: number): string {
  const digits = scaledDigits(value, precision).padStart(precision + 1, '0');
  const point = digits.length - precision;
  return `${signOf(value)}${digits.slice(0, point)}${precision === 0 ? '' : `.${digits.slice(point)}`}`;
}

/** Go's `%.<precision>e` of a finite number. */
export function scientificText(value: number, precision: number): string {
  let exponent = digitsOf(value).point - 1;
  let digits = scaledDigits(value, precision - exponent).padEnd(precision + 1, '0');
  // Rounding may lead to the next power of ten.
  if (digits.length > precision + 1) {
    digits = digits.slice(0, -1);
    exponent++;
  }
  return `${signOf(value)}${digits[0]}${precision === 0 ? '' : `.${digits.slice(1)}`}e${exponentText(exponent)}`;
}

/** The digits of the size of a number times a power of ten, rounded to an integer, half to even. */
function scaledDigits(value: number, power: number): string {
  const [numerator, denominator] = ratioOf(Math.abs(value));
  const dividend = power > 0 ? numerator * 10n ** BigInt(power) : numerator;
  const divisor = power < 0 ? denominator * 10n ** BigInt(-power) : denominator;
  const quotient = dividend / divisor;
  const rest = (dividend % divisor) * 2n;
  const up = rest > divisor || (rest === divisor && quotient % 2n === 1n);
  return (up ? quotient + 1n : quotient).toString();
}

const bits = new DataView(new ArrayBuffer(8));

/** A number that is not negative as an exact fraction. */
function ratioOf(value: number): readonly [numerator: bigint, denominator: bigint] {
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const exponent = raw >> 52n;
  const fraction = raw & (2n ** 52n - 1n);
  const mantissa = exponent === 0n ? fraction : fraction + 2n ** 52n;
  const power = (exponent === 0n ? 1n : exponent) - 1075n;
  return power >= 0n ? [mantissa << power, 1n] : [mantissa, 1n << -power];
}

const signOf = (value: number): string => (value < 0 || Object.is(value, -0) ? '-' : '');

const exponentText = (exponent: number): string =>
  `${exponent < 0 ? '-' : '+'}${Math.abs(exponent).toString().padStart(2, '0')}`;

/** The decimal digits of a finite number, and how many of them are before the decimal point. */
function digitsOf(value: number): { readonly sign: string; readonly digits: string; readonly point: number } {
  const sign = signOf(value);
  if (value === 0) return { sign, digits: '0', point: 1 };
  const [mantissa = '', exponent] = Math.abs(value).toExponential().split('e');
  return { sign, digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const infinite = /^([+-]?)inf(?:inity)?$/i;

/** The double of a text; undefined when it is none or is out of range. */
export function parseDouble(text: string): number | undefined {
  if (decimal.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  if (/^nan$/i.test(text)) return Number.NaN;
  const sign = infinite.exec(text)?.[1];
  if (sign === undefined) return undefined;
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** The integer of a text of decimal digits, of at most 20 without leading zeros; undefined when it is none. */
export function parseInteger(text: string, signed: boolean): bigint | undefined {
  const [, sign = '', digits] = /^([+-]?)0*(\d{1,20})$/.exec(text) ?? [];
  if (digits === undefined || (sign !== '' && !signed)) return undefined;
  return BigInt(`${sign === '-' ? '-' : ''}${digits}`);
}
