import type { Log } from './dependencies.ts';
import type { Settings } from './flags.ts';

/**
 * JSON lines on standard error, written synchronously; each names the API server with this identity. Requests are logged
 * at the level `debug`.
 */
export async function createLog(level: Settings['logLevel'], identity?: string): Promise<Log> {
  const { pino } = await import('pino');
  const out = pino(
    {
      level,
      base: identity === undefined ? null : { apiserver: identity },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    pino.destination({ dest: 2, sync: true }),
  );
  return {
    error: (text, fields) => out.error(fields, text),
    warn: (text, fields) => out.warn(fields, text),
    info: (text, fields) => out.info(fields, text),
    ...(level === 'debug' ? { request: (entry) => out.debug(entry, 'request') } : {}),
  };
}
