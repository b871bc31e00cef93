import type { FlagType } from './flag-types.ts';

/** A flag of a command. Its name is its key in the table in kebab-case: `--secure-port`. */
export interface Flag<T> {
  readonly section:
    | 'Address'
    | 'Identity'
    | 'API'
    | 'Nodes'
    | 'Store'
    | 'Controllers'
    | 'Audit'
    | 'Types'
    | 'Conversion'
    | 'Limits'
    | 'Process';
  readonly type: FlagType<T>;
  readonly default: T;
  /** A sentence or two without the default, in Markdown. */
  readonly help: string;
  /** Other names, such as that of the reference server. One letter is written with one dash: `-f`. */
  readonly aliases?: readonly string[];
}

/** A row of the table of flags. */
export const flag = <T>(
  section: Flag<T>['section'],
  valueType: FlagType<T>,
  byDefault: NoInfer<T>,
  help: string,
  aliases: readonly string[] = [],
): Flag<T> => ({ section, type: valueType, default: byDefault, help, aliases });

/** The values of flags by key. */
export type SettingsOf<F> = { readonly [K in keyof F]: F[K] extends { readonly default: infer T } ? T : never };

/** A flag with its key and its name: `securePort`, `secure-port`. */
export interface ListedFlag<K extends string = string> extends Flag<unknown> {
  readonly key: K;
  readonly name: string;
}

/** The environment variable of a flag: `ORCH_SECURE_PORT` for `secure-port`. */
export const variableOf = (name: string): string => `ORCH_${name.toUpperCase().replaceAll('-', '_')}`;

/** The flags of a command. */
export interface FlagTable<S> {
  /** In the order of the documentation. */
  readonly list: readonly ListedFlag<keyof S & string>[];
  readonly defaults: S;
  /** The problems of settings that are inconsistent with each other; `nameOf` spells one. */
  readonly problemsOf: (settings: S, nameOf: (key: keyof S & string) => string) => string[];
}

/** The documentation of a command. */
export interface CommandDocs {
  readonly help: () => string;
  readonly flags: readonly ListedFlag[];
}

/** A loaded command. */
export interface LoadedCommand extends CommandDocs {
  readonly run: (args: readonly string[]) => Promise<void>;
}

export const listOf = <F extends object>(flags: F): ListedFlag<keyof F & string>[] =>
  Object.entries(flags).map(([key, value]) => ({
    ...(value as Flag<unknown>),
    key: key as keyof F & string,
    name: key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  }));

export const defaultsOf = <F extends object>(flags: F): SettingsOf<F> =>
  Object.fromEntries(listOf(flags).map(({ key, default: value }) => [key, value])) as SettingsOf<F>;
