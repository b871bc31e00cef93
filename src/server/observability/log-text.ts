/** A parsed line of the log. */
interface Line {
  readonly level: string;
  readonly time: string;
  readonly part: string;
  readonly msg: string;
  readonly [name: string]: unknown;
}

/** The escape sequences of the levels on a terminal. */
const colours: { readonly [level: string]: string } = { error: '31', warn: '33', info: '32', debug: '36' };

/**
 * Formats a line for a terminal: time of day, level, part of the server, message and fields. Errors have a stack only at the
 * level `error`: other failures are expected.
 */
export function terminalLine(json: string, coloured: boolean): string {
  const { level, time, part, msg, apiserver: _, ...fields } = JSON.parse(json) as Line;
  const paint = (code: string | undefined, text: string) =>
    coloured && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text;
  const pairs = Object.entries(fields).map(([name, value]) => {
    if (name !== 'error') return word(name, value);
    return level === 'error' ? errorPairs(value) : word(name, messageOf(value));
  });
  const head = [paint('2', time.slice(11, 19)), paint(colours[level], level.padEnd(5)), `${part}:`, printable(msg)];
  return `${[...head, ...pairs.map((text) => paint('2', text))].join(' ')}\n`;
}

const messageOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'message' in error ? error.message : error;

/** A field, quoted only where necessary. */
const word = (name: string, value: unknown): string =>
  typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? `${name}=${value}` : pair(name, value);

/** Control characters could change the terminal. */
const printable = (text: string): string => (/^[\x20-\x7e]*$/.test(text) ? text : JSON.stringify(text));

/** Formats a line as text: level, date, time, process, part of the server, message and fields. */
export function textLine(json: string): string {
  const { level, time, part, msg, apiserver: _, ...fields } = JSON.parse(json) as Line;
  const [, month, day, clock, milliseconds] = /^\d+-(\d\d)-(\d\d)T([\d:]+)\.(\d{3})Z$/.exec(time) ?? [];
  const head = `${level[0]?.toUpperCase()}${month}${day} ${clock}.${milliseconds}000 ${String(process.pid).padStart(7)}`;
  const pairs = Object.entries(fields).map(([name, value]) =>
    name === 'error' ? errorPairs(value) : pair(name, value),
  );
  return `${[`${head} ${part}]`, JSON.stringify(msg), ...pairs].join(' ')}\n`;
}

/** The message and the stack of a logged error. */
function errorPairs(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return pair('err', error);
  return 'stack' in error ? `${pair('err', error.message)} ${pair('stack', error.stack)}` : pair('err', error.message);
}

const pair = (name: string, value: unknown): string => `${name}=${JSON.stringify(value)}`;
