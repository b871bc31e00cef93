import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalDuration,
  canonicalTime,
  formatAge,
  formatDuration,
  formatMicroTime,
  formatSpan,
  formatTime,
  parseDuration,
  parseInstant,
  parseTime,
} from './time.ts';

describe('times', () => {
  it.each([
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59Z'],
    ['2024-01-01T00:30:00+02:00', '2023-12-31T22:30:00Z'],
    ['2024-01-01T00:30:00-00:30', '2024-01-01T01:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalTime(text)).toBe(canonical);
  });

  it('the last days of every month are in stored form, and days that do not exist are refused', () => {
    for (const year of [2023, 2024]) {
      for (let month = 1; month <= 12; month++) {
        const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
        for (let day = 28; day <= 32; day++) {
          const text = `${year}-${String(month).padStart(2, '0')}-${day}T00:00:00Z`;
          if (day <= days) expect(canonicalTime(text)).toBe(text);
          else expect(() => canonicalTime(text)).toThrow('day out of range');
        }
      }
    }
  });

  it('keeps six decimals of a MicroTime', () => {
    expect(canonicalTime('2024-01-01T02:00:00.123456+02:00', true)).toBe('2024-01-01T00:00:00.123456Z');
    expect(formatMicroTime(Date.UTC(2024, 0, 1, 0, 0, 0, 7))).toBe('2024-01-01T00:00:00.007000Z');
    expect(parseTime('2024-01-01T00:00:00.123456Z', true)).toBe(Date.UTC(2024, 0, 1, 0, 0, 0, 123));
  });

  const as = 'as "2006-01-02T15:04:05Z07:00"';
  it.each([
    ['x', `parsing time "x" ${as}: cannot parse "x" as "2006"`],
    ['', `parsing time "" ${as}: cannot parse "" as "2006"`],
    ['2024', `parsing time "2024" ${as}: cannot parse "" as "-"`],
    ['2024-1-01T00:00:00Z', `parsing time "2024-1-01T00:00:00Z" ${as}: cannot parse "1-01T00:00:00Z" as "01"`],
    ['2024-01-01', `parsing time "2024-01-01" ${as}: cannot parse "" as "T"`],
    ['2024-01-01 00:00:00Z', `parsing time "2024-01-01 00:00:00Z" ${as}: cannot parse " 00:00:00Z" as "T"`],
    ['2024-01-01T00:00:00', `parsing time "2024-01-01T00:00:00" ${as}: cannot parse "" as "Z07:00"`],
    ['2024-13-01T00:00:00Z', 'parsing time "2024-13-01T00:00:00Z": month out of range'],
    ['2023-02-29T00:00:00Z', 'parsing time "2023-02-29T00:00:00Z": day out of range'],
    ['2024-01-01T24:00:00Z', 'parsing time "2024-01-01T24:00:00Z": hour out of range'],
    ['2024-01-01T00:00:60Z', 'parsing time "2024-01-01T00:00:60Z": second out of range'],
    ['2024-01-01T00:00:00Zz', 'parsing time "2024-01-01T00:00:00Zz": extra text: "z"'],
    ['9999-12-31T23:59:59-01:00', 'parsing time "9999-12-31T23:59:59-01:00": year out of range'],
  ])('refuses %s', (text, message) => {
    expect(() => canonicalTime(text)).toThrow(expect.objectContaining({ code: 400, message }));
  });

  it('rejects a MicroTime with another number of decimals', () => {
    for (const [text, rest, sample] of [
      ['2024-01-01T00:00:00Z', 'Z', '.000000'],
      ['2024-01-01T00:00:00.123Z', '.123Z', '.000000'],
      ['2024-01-01T00:00:00.123456789Z', '789Z', 'Z07:00'],
    ] as const) {
      const message = `parsing time "${text}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "${rest}" as "${sample}"`;
      expect(() => canonicalTime(text, true)).toThrow(expect.objectContaining({ message }));
    }
  });

  it('equals Date.parse for every time', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), (seconds) => {
        const text = formatTime(seconds * 1000);
        expect(parseTime(text)).toBe(seconds * 1000);
        expect(canonicalTime(text)).toBe(text);
      }),
    );
  });
});

describe('instants', () => {
  it.each([
    ['1970-01-01T00:00:00Z', { seconds: 0, nanos: 0, offset: 0 }],
    ['1970-01-01T00:00:00.123456789Z', { seconds: 0, nanos: 123_456_789, offset: 0 }],
    ['1970-01-01T05:30:00.5+05:30', { seconds: 0, nanos: 500_000_000, offset: 19_800 }],
    ['0001-01-01T00:00:00Z', { seconds: -62_135_596_800, nanos: 0, offset: 0 }],
    ['9999-12-31T23:59:59-01:00', { seconds: 253_402_304_399, nanos: 0, offset: -3600 }],
  ])('%s has nanoseconds and the offset of its text', (text, instant) => {
    expect(parseInstant(text)).toEqual(instant);
  });
  it.each(['2024-02-30T00:00:00Z', '2024-01-01', '2024-01-01T00:00:00', ''])('%j is none', (text) => {
    expect(() => parseInstant(text)).toThrow(/^parsing time/);
  });
});

describe('durations', () => {
  it.each([
    ['0', '0s'],
    ['1h30m', '1h30m0s'],
    ['90m', '1h30m0s'],
    ['100ms', '100ms'],
    ['1.5s', '1.5s'],
    ['-1.5h', '-1h30m0s'],
    ['.5m', '30s'],
    ['1us', '1µs'],
    ['1500us', '1.5ms'],
    ['+7ns', '7ns'],
    ['61s', '1m1s'],
    ['-9223372036854775808ns', '-2562047h47m16.854775808s'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalDuration(text)).toBe(canonical);
  });
  it.each([
    ['', 'time: invalid duration ""'],
    ['x', 'time: invalid duration "x"'],
    ['10', 'time: missing unit in duration "10"'],
    ['10d', 'time: unknown unit "d" in duration "10d"'],
    ['1h-30m', 'time: unknown unit "h-" in duration "1h-30m"'],
    ['.s', 'time: invalid duration ".s"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
  ])('refuses %s', (text, message) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 400, message }));
  });
  it('parses its own output', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (nanoseconds) => {
        expect(parseDuration(formatDuration(nanoseconds))).toBe(nanoseconds);
      }),
    );
  });
});

describe('ages', () => {
  const [s, m, h, d] = [1000, 60_000, 3_600_000, 86_400_000];
  it.each([
    [-5 * s, '<invalid>'],
    [-1 * s, '0s'],
    [0, '0s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [9 * m + 59 * s, '9m59s'],
    [10 * m + 5 * s, '10m'],
    [179 * m, '179m'],
    [3 * h + 12 * m, '3h12m'],
    [8 * h + 12 * m, '8h'],
    [47 * h, '47h'],
    [2 * d, '2d'],
    [7 * d + 23 * h, '7d23h'],
    [8 * d + 23 * h, '8d'],
    [729 * d, '729d'],
    [2 * 365 * d, '2y'],
    [2 * 365 * d + 3 * d, '2y3d'],
    [8 * 365 * d + 3 * d, '8y'],
  ])('%i ms is %s', (ms, text) => {
    expect(formatSpan(ms)).toBe(text);
  });
  it('is <unknown> without a time', () => {
    expect(formatAge(undefined, 0)).toBe('<unknown>');
    expect(formatAge('1970-01-01T00:00:00Z', 5 * s)).toBe('5s');
  });
});
