import { describe, expect, it } from 'vitest';
import { requestsOf } from './current-requests.ts';

const row = (cells: readonly string[], widths: readonly number[]) =>
  cells.map((cell, index) => (index < cells.length - 1 ? `${cell},`.padEnd(widths[index] ?? 0) : cell)).join('');

describe('the requests of a dump', () => {
  const header = ['PriorityLevelName', 'RequestIndexInQueue', 'ArriveTime', 'UserName', 'Verb', 'APIPath'];
  const widths = [18, 20, 33, 12, 8];
  const dumpOf = (...rows: string[][]) => `${[header, ...rows].map((cells) => row(cells, widths)).join('\n')}\n`;

  it('come the oldest first, and names may contain commas', () => {
    const later = ['workload', '-1', '2026-01-01T00:00:05.000000000Z', 'a, b', 'list', '/api/v1/pods?x=1,2'];
    const first = ['system', '0', '2026-01-01T00:00:01.500000000Z', 'jane', 'get', '/api/v1/nodes/n'];
    expect(requestsOf(dumpOf(later, first))).toEqual([
      {
        user: 'jane',
        verb: 'get',
        path: '/api/v1/nodes/n',
        level: 'system',
        waits: true,
        arrived: Date.parse('2026-01-01T00:00:01.500Z'),
      },
      {
        user: 'a, b',
        verb: 'list',
        path: '/api/v1/pods?x=1,2',
        level: 'workload',
        waits: false,
        arrived: Date.parse('2026-01-01T00:00:05Z'),
      },
    ]);
  });

  it('are none where there are none, or the text is not a dump', () => {
    expect(requestsOf(dumpOf())).toEqual([]);
    expect(requestsOf('')).toEqual([]);
  });
});
