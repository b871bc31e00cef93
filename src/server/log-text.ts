/** What every line has, and its fields. */
interface Line {
  readonly level: string;
  readonly time: string;
  readonly part: string;
  readonly msg: string;
  readonly [name: string]: unknown;
}

/** A line of the log as text: the level, date, time and process, the part of the server, the message, and its fields. */
export function textLine(json: string): string {
  const { level, time, part, msg, apiserver: _, ...fields } = JSON.parse(json) as Line;
  const [, month, day, clock, milliseconds] = /^\d+-(\d\d)-(\d\d)T([\d:]+)\.(\d{3})Z$/.exec(time) ?? [];
  const head = `${level[0]?.toUpperCase()}${month}${day} ${clock}.${milliseconds}000 ${String(process.pid).padStart(7)}`;
  const pairs = Object.entries(fields).map(([name, value]) =>
    name === 'error' ? errorPairs(value) : pair(name, value),
  );
  return `${[`${head} ${part}]`, JSON.stringify(msg), ...pairs].join(' ')}\n`;
}

/** An error that has been logged: its message, and where it was made. */
function errorPairs(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return pair('err', error);
  return 'stack' in error ? `${pair('err', error.message)} ${pair('stack', error.stack)}` : pair('err', error.message);
}

const pair = (name: string, value: unknown): string => `${name}=${JSON.stringify(value)}`;
