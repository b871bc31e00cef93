import { describe, expect, test, vi } from 'vitest';
import { parseSchedule, type Schedule, timeZoneErrors } from './cron-schedule.ts';

// Texts and times are those of the reference server.
describe('schedules', () => {
  test.each([
    '* * * * *',
    '*/5 0-6 1,15 JAN-Mar mon',
    '0 0 ? * 5/1',
    '59 23 31 12 6',
    '@hourly',
    '@annually',
    '@every 1h30m',
    '  0   0 * * *  ',
  ])('accepts %j', (schedule) => {
    expect(typeof parseSchedule(schedule)).toBe('object');
  });

  test.each([
    ['', 'empty spec string'],
    ['often', 'expected exactly 5 fields, found 1: [often]'],
    ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
    ['  ', 'expected exactly 5 fields, found 0: []'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['5-3 * * * *', 'beginning of range (5) beyond end of range (3): 5-3'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['* * * foo *', 'failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax'],
    ['@noon', 'unrecognized descriptor: @noon'],
    ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
    ['TZ=Mars/Base * * * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
  ])('rejects %j: %s', (schedule, message) => {
    expect(parseSchedule(schedule)).toBe(message);
  });
});

describe('time zones', () => {
  test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Calcutta', 'Etc/GMT+5'])(
    'accepts %s',
    (zone) => {
      expect(timeZoneErrors(zone)).toEqual([]);
    },
  );

  test.each([
    ['', ['timeZone must be nil or non-empty string']],
    ['Mars/Base', ['unknown time zone Mars/Base']],
    ['europe/berlin', ['unknown time zone europe/berlin']],
    ['+01:00', ['unknown time zone +01:00']],
    ['../etc', ['unknown time zone ../etc']],
    ['Local', ['timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones']],
  ])('rejects %j', (zone, errors) => {
    expect(timeZoneErrors(zone)).toEqual(errors);
  });
});

test.each([
  [
    'a schedule of very many fields',
    () => parseSchedule('a\n'.repeat(500_000)),
    /^expected exactly 5 fields, found 1000: /,
  ],
  ['a field of very many ranges', () => parseSchedule(`${'1,'.repeat(500_000)} * * * *`), /^too many ranges: /],
  [
    'a range of very many slashes',
    () => parseSchedule(`${'/'.repeat(1_000_000)} * * * *`),
    /^failed to parse int from /,
  ],
  ['a time zone of very many parts', () => String(timeZoneErrors('a/'.repeat(500_000))), /^unknown time zone /],
])('%s is divided into a thousand parts at most', (_, read, fault) => {
  const split = vi.spyOn(String.prototype, 'split');
  expect(read()).toMatch(fault);
  expect(Math.max(0, ...split.mock.results.map(({ value }) => (value as string[]).length))).toBeLessThanOrEqual(1_000);
});

describe('the next time', () => {
  const next = (schedule: string, after: string) => {
    const time = (parseSchedule(schedule) as Schedule).next(Date.parse(after));
    return time === undefined ? undefined : new Date(time).toISOString().replace('.000Z', 'Z');
  };

  test.each([
    ['0/15 * * * *', '2012-07-09T14:45:00Z', '2012-07-09T15:00:00Z'],
    ['0/15 * * * *', '2012-07-09T14:59:59.5Z', '2012-07-09T15:00:00Z'],
    ['20-35/15 * * * *', '2012-07-09T15:45:00Z', '2012-07-09T16:20:00Z'],
    ['*/15 10-12 * * *', '2012-07-09T23:46:00Z', '2012-07-10T10:00:00Z'],
    ['0 0 9 4-10 *', '2012-07-09T23:35:00Z', '2012-08-09T00:00:00Z'],
    ['0 0 */5 4,8,10 mon', '2012-07-09T23:35:00Z', '2012-08-01T00:00:00Z'],
    ['0 0 * feb mon', '2012-07-09T23:35:00Z', '2013-02-04T00:00:00Z'],
    ['0 0 * feb mon/2', '2012-07-09T23:35:00Z', '2013-02-01T00:00:00Z'],
    ['0 0 29 2 *', '2012-07-09T23:35:00Z', '2016-02-29T00:00:00Z'],
    ['0 0 30 2 *', '2012-07-09T23:35:00Z', undefined],
    ['0 , * * *', '2012-07-09T23:35:00Z', undefined],
    ['@weekly', '2012-07-09T23:35:00Z', '2012-07-15T00:00:00Z'],
    ['@hourly', '2012-07-09T23:00:00Z', '2012-07-10T00:00:00Z'],
    ['@every 1h30m', '2012-07-09T23:35:10.3Z', '2012-07-10T01:05:10Z'],
    ['@every 1.5s', '2012-07-09T23:35:10Z', '2012-07-09T23:35:11Z'],
    ['@every 0', '2012-07-09T23:35:10Z', '2012-07-09T23:35:11Z'],
  ])('%s after %s', (schedule, after, expected) => {
    const utc = schedule.startsWith('@every') ? schedule : `TZ=UTC ${schedule}`;
    expect(next(utc, after)).toBe(expected);
  });

  test.each([
    // The clocks are set forward at 02:00: that hour is not due.
    ['America/New_York', '30 2 11 Mar ?', '2012-03-11T00:00:00-05:00', '2013-03-11T02:30:00-04:00'],
    ['America/New_York', '0 * * * ?', '2012-03-11T01:00:00-05:00', '2012-03-11T03:00:00-04:00'],
    ['America/New_York', '0 2 * * ?', '2012-03-11T00:00:00-05:00', '2012-03-12T02:00:00-04:00'],
    // The clocks are set back at 02:00: the hour from 01:00 is due twice.
    ['America/New_York', '30 1 04 Nov ?', '2012-11-04T00:00:00-04:00', '2012-11-04T01:30:00-04:00'],
    ['America/New_York', '30 1 04 Nov ?', '2012-11-04T01:30:00-04:00', '2012-11-04T01:30:00-05:00'],
    ['America/New_York', '0 2 04 Nov ?', '2012-11-04T00:00:00-04:00', '2012-11-04T02:00:00-05:00'],
    // Days without midnight, and a day that never was.
    ['America/Sao_Paulo', '0 9 10 * ?', '2018-10-17T05:00:00-04:00', '2018-11-10T06:00:00-05:00'],
    ['America/Sao_Paulo', '0 9 22 * ?', '2018-02-14T05:00:00-05:00', '2018-02-22T07:00:00-05:00'],
    ['America/Sao_Paulo', '0 0 * * *', '2018-11-03T12:00:00-03:00', '2018-11-05T00:00:00-02:00'],
    ['Pacific/Apia', '0 6 * * *', '2011-12-29T12:00:00-10:00', '2011-12-31T06:00:00+14:00'],
    ['Asia/Kolkata', '0 9 * * *', '2024-01-01T00:00:00Z', '2024-01-01T09:00:00+05:30'],
  ])('in %s %s after %s', (zone, schedule, after, expected) => {
    expect(next(`TZ=${zone} ${schedule}`, after)).toBe(new Date(expected).toISOString().replace('.000Z', 'Z'));
  });
});
