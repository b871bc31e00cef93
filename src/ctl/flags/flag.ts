/** The flags of commands as data. */
import { formatDuration, parseDuration } from '../../meta/index.ts';

/** How a flag is read and how its default is printed. */
interface FlagType<T> {
  /** Adds a text of the command line to the value so far. @throws Error with the reason */
  parse(text: string, before: T, isFirst: boolean): T;
  format(value: T): string;
}

export interface Flag<T> {
  readonly type: FlagType<T>;
  readonly default: T;
  readonly help: string;
  /** The letter after one dash. */
  readonly short?: string;
  /** The text that stands for the flag without a value, as `true` for a switch. Without it, a flag needs a value. */
  readonly bare?: string;
}

export interface FlagTable {
  readonly [key: string]: Flag<unknown>;
}

/** The values of a table of flags, by key. */
export type ValuesOf<F> = {
  readonly [K in keyof F]: F[K] extends { readonly default: infer T } ? T : never;
};

/** The name on the command line: `dry-run` for `dryRun`. */
export const nameOfKey = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const quoted = (text: string) => `'${text}'`;

const textType: FlagType<string> = { parse: (text) => text, format: quoted };

const listType = (split: (text: string) => string[]): FlagType<readonly string[]> => ({
  // The first one on the command line replaces the default.
  parse: (text, before, isFirst) => [...(isFirst ? [] : before), ...split(text)],
  format: (values) => `[${values.join(',')}]`,
});

const listed = listType((text) => (text === '' ? [] : text.split(',')));
const repeated = listType((text) => [text]);

const switchType: FlagType<boolean> = {
  parse: (text) => {
    if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true;
    if (/^(?:0|f|F|false|FALSE|False)$/.test(text)) return false;
    throw new Error(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
  },
  format: String,
};

const integerType: FlagType<number> = {
  parse: (text) => {
    const value = Number(text);
    if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(value)) return value;
    const why = /^[+-]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
    throw new Error(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  },
  format: String,
};

const durationType: FlagType<number> = {
  parse: (text) => {
    try {
      return Number(parseDuration(text) / 1_000_000n);
    } catch {
      const bare = /^\d+$/.test(text);
      throw new Error(`time: ${bare ? 'missing unit in' : 'invalid'} duration ${JSON.stringify(text)}`);
    }
  },
  format: (ms) => formatDuration(BigInt(ms) * 1_000_000n),
};

interface Extras {
  readonly short?: string;
  readonly bare?: string;
}

/** A text. */
export const text = (value: string, help: string, extras: Extras = {}): Flag<string> => ({
  type: textType,
  default: value,
  help,
  ...extras,
});

/** A list whose items are separated by commas; the flag may be repeated. */
export const list = (
  help: string,
  extras: Extras & { readonly default?: readonly string[] } = {},
): Flag<readonly string[]> => ({ type: listed, default: [], help, ...extras });

/** A list of one item for each time the flag appears. */
export const repeatable = (help: string, extras: Extras = {}): Flag<readonly string[]> => ({
  type: repeated,
  default: [],
  help,
  ...extras,
});

/** True or false; true without a value. */
export const toggle = (value: boolean, help: string, extras: Extras = {}): Flag<boolean> => ({
  type: switchType,
  default: value,
  help,
  bare: 'true',
  ...extras,
});

export const integer = (value: number, help: string, extras: Extras = {}): Flag<number> => ({
  type: integerType,
  default: value,
  help,
  ...extras,
});

/** A duration such as `30s`, in milliseconds. */
export const duration = (ms: number, help: string, extras: Extras = {}): Flag<number> => ({
  type: durationType,
  default: ms,
  help,
  ...extras,
});
