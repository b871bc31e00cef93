import type { FlagType } from './flag-types.ts';

/** A flag of the server. Its name is its key in the table in kebab-case: `--secure-port`. */
export interface Flag<T> {
  readonly section: 'Address' | 'Identity' | 'API' | 'Nodes' | 'Store' | 'Controllers' | 'Audit' | 'Limits' | 'Process';
  readonly type: FlagType<T>;
  readonly default: T;
  /** A sentence or two without the default, in Markdown. */
  readonly help: string;
}

/** A row of the table of flags. */
export const flag = <T>(
  section: Flag<T>['section'],
  valueType: FlagType<T>,
  byDefault: NoInfer<T>,
  help: string,
): Flag<T> => ({ section, type: valueType, default: byDefault, help });
