/** The float of 16, 32 or 64 bits whose bytes end there. */
export function floatOf(bytes: Buffer, end: number, info: number): number {
  if (info === 27) return bytes.readDoubleBE(end - 8);
  if (info === 26) return bytes.readFloatBE(end - 4);
  const bits = bytes.readUInt16BE(end - 2);
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

const single = new DataView(new ArrayBuffer(4));

/** The bits of a float of 16 bits; undefined when it cannot represent the value exactly. */
export function halfOf(value: number): number | undefined {
  if (Math.fround(value) !== value) return undefined;
  single.setFloat32(0, value);
  const bits = single.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127;
  const fraction = bits & 0x7f_ffff;
  if (exponent === 128) return sign | 0x7c00;
  if (exponent > 15 || exponent < -24) return undefined;
  // Below 2^-14 the leading one is part of the fraction.
  const [high, digits, dropped] =
    exponent < -14 ? [0, fraction | 0x80_0000, -1 - exponent] : [(exponent + 15) << 10, fraction, 13];
  return (digits & ((1 << dropped) - 1)) === 0 ? sign | high | (digits >>> dropped) : undefined;
}
