import type { Log } from './log.ts';

/** Writes nothing: for tests in which errors are expected. */
export const silentLog: Log = { error: () => {}, warn: () => {}, info: () => {} };

/** Writes warnings and errors to the console. */
export const consoleLog: Log = {
  error: (text, fields) => console.error(text, fields),
  warn: (text, fields) => console.warn(text, fields),
  info: () => {},
};
