/** A structured log. It never receives secrets. */
export interface Log {
  readonly error: (text: string, fields: { readonly [name: string]: unknown }) => void;
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
  readonly info: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** Writes nothing; for tests that expect errors. */
export const silentLog: Log = { error: () => {}, warn: () => {}, info: () => {} };

/** Writes warnings and errors to the console. */
export const consoleLog: Log = {
  error: (text, fields) => console.error(text, fields),
  warn: (text, fields) => console.warn(text, fields),
  info: () => {},
};
