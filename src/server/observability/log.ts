import type { Log } from '../dependencies.ts';
import { formatLevels, type LogLevels, type LogPart, logParts, parseLevels } from '../settings/log-levels.ts';
import { LogOutput } from './log-output.ts';
import { terminalLine, textLine } from './log-text.ts';

export interface LogOptions {
  readonly levels: LogLevels;
  /** Default: `auto`, text for people on a terminal, and JSON elsewhere. */
  readonly format?: 'auto' | 'json' | 'text';
  /** Names the server in lines of JSON. */
  readonly identity?: string;
  /** Takes whole lines. Default: standard error; see `LogOutput`. */
  readonly out?: { write(line: string): unknown; readonly isTTY?: boolean };
}

/** Returns the function that reformats lines of JSON; undefined when they stay JSON. */
function rewriteOf({ format = 'auto', out = process.stderr }: LogOptions): ((json: string) => string) | undefined {
  if (format === 'text') return textLine;
  if (format === 'json' || out.isTTY !== true) return undefined;
  const colours = (process.env['NO_COLOR'] ?? '') === '';
  return (json) => terminalLine(json, colours);
}

const droppedText = 'lines of the log were dropped because standard error was not read';

/** Creates a log whose lines name a part of the server. Requests are logged at the level `debug` of `http`. */
export async function createLog(options: LogOptions): Promise<Log> {
  const { levels, identity } = options;
  const { pino } = await import('pino');
  // `rewriteOf` opens the stream of Node, after which a pipe does not block.
  const rewrite = rewriteOf(options);
  const out = options.out ?? new LogOutput(2, (lines) => root.warn({ part: 'server', lines }, droppedText));
  const root = pino(
    {
      base: identity === undefined ? null : { apiserver: identity },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    rewrite === undefined ? out : { write: (line: string) => void out.write(rewrite(line)) },
  );
  const loggers = new Map(logParts.map((part) => [part, root.child({ part })]));
  let current: LogLevels;
  const use = (next: LogLevels) => {
    current = next;
    for (const [part, logger] of loggers) logger.level = next.parts.get(part) ?? next.level;
  };
  use(levels);
  const setting = {
    format: () => formatLevels(current),
    set: (text: string) => {
      const parsed = parseLevels(text);
      if ('problem' in parsed) return parsed.problem;
      use(parsed.value);
      loggers.get('server')?.info({ levels: setting.format() }, 'log levels changed');
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
