/** The requests that the server executes or holds in a queue, from its dump of API priority and fairness. */

export interface CurrentRequest {
  readonly user: string;
  readonly verb: string;
  readonly path: string;
  readonly level: string;
  /** Whether it waits in a queue. */
  readonly waits: boolean;
  /** When it arrived (ms since 1970). */
  readonly arrived: number;
}

/** The path of the dump. The parameter adds who sent each request, and what for. */
export const requestsPath = '/debug/api_priority_and_fairness/dump_requests';
export const requestsUrl = `${requestsPath}?includeRequestDetails=1`;

/** The requests of a dump, the oldest first. All cells of a column have the same width, so a name may contain commas. */
export function requestsOf(dump: string): CurrentRequest[] {
  const [header = '', ...rows] = dump.split('\n');
  const columns = [...header.matchAll(/\w+(?:, *)?/g)].map(({ 0: { length }, index }) => ({
    name: header.slice(index, index + length).replace(/, *$/, ''),
    start: index,
    end: index + length,
  }));
  const last = columns.at(-1);
  return rows
    .filter((row) => row !== '')
    .map((row) => {
      const cell = (name: string) => {
        const column = columns.find((one) => one.name === name);
        const text = column && row.slice(column.start, column === last ? undefined : column.end);
        return text?.replace(/, *$/, '') ?? '';
      };
      return {
        user: cell('UserName'),
        verb: cell('Verb'),
        path: cell('APIPath'),
        level: cell('PriorityLevelName'),
        waits: Number(cell('RequestIndexInQueue')) >= 0,
        arrived: Date.parse(cell('ArriveTime')) || 0,
      };
    })
    .sort((a, b) => a.arrived - b.arrived);
}
