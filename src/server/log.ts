import type { Log } from './dependencies.ts';
import { formatLevels, type LogLevels, type LogPart, logParts, parseLevels } from './log-levels.ts';
import { textLine } from './log-text.ts';

export interface LogOptions {
  readonly levels: LogLevels;
  /** Default: JSON. */
  readonly format?: 'json' | 'text';
  /** Names the server in lines of JSON. */
  readonly identity?: string;
  /** Takes whole lines. Default: standard error, written synchronously. */
  readonly out?: { write(line: string): unknown };
}

/** Lines that each name the part of the server that they are from. Requests are logged at the level `debug` of `http`. */
export async function createLog({ levels, format = 'json', identity, out: given }: LogOptions): Promise<Log> {
  const { pino } = await import('pino');
  const out = given ?? pino.destination({ dest: 2, sync: true });
  const root = pino(
    {
      base: identity === undefined ? null : { apiserver: identity },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    format === 'json' ? out : { write: (line: string) => void out.write(textLine(line)) },
  );
  const loggers = new Map(logParts.map((part) => [part, root.child({ part })]));
  let present: LogLevels;
  const use = (next: LogLevels) => {
    present = next;
    for (const [part, logger] of loggers) logger.level = next.parts.get(part) ?? next.level;
  };
  use(levels);
  const setting = {
    format: () => formatLevels(present),
    set: (text: string) => {
      const parsed = parseLevels(text);
      if ('problem' in parsed) return parsed.problem;
      use(parsed.value);
      loggers.get('server')?.info({ levels: setting.format() }, 'the levels of the log were changed');
      return undefined;
    },
  };
  const logs = new Map<LogPart, Log>();
  for (const [part, logger] of loggers) {
    const write = (entry: object) => logger.debug(entry, 'request');
    const debug: Log['debug'] = (text, fields) => logger.debug(fields, text);
    logs.set(part, {
      error: (text, fields) => logger.error(fields, text),
      warn: (text, fields) => logger.warn(fields, text),
      info: (text, fields) => logger.info(fields, text),
      get debug() {
        return logger.level === 'debug' ? debug : undefined;
      },
      get request() {
        return logger.level === 'debug' ? write : undefined;
      },
      part: (name) => logs.get(name) as Log,
      levels: setting,
    });
  }
  return logs.get('server') as Log;
}
