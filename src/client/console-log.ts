import type { Log } from './log.ts';

/** Writes warnings and errors to the console. */
export const consoleLog: Log = {
  error: (text, fields) => console.error(text, fields),
  warn: (text, fields) => console.warn(text, fields),
  info: () => {},
};
