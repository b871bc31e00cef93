/** Options of commands that write objects: dry runs, field managers, validation, and the line that reports a change. */
import type { JsonObject } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { text, type ValuesOf } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { outputFlags, type Printer, printedName, printerOf } from '../output/printer.ts';
import { warn } from '../output/terminal.ts';

/** The flags of commands that write objects, with the default field manager. */
export const changeFlags = (manager: string) => ({
  ...outputFlags,
  dryRun: text(
    'none',
    'Must be "none", "server", or "client". If client strategy, only print the object that would be sent, without sending it. If server strategy, submit server-side request without persisting the resource.',
    { bare: 'unchanged' },
  ),
  fieldManager: text(manager, 'Name of the manager used to track field ownership.'),
});

/** The flag of commands that send whole objects. */
export const validateFlag = {
  validate: text(
    'strict',
    'Must be one of: strict (or true), warn, ignore (or false). How the server treats unknown and duplicate fields.',
    { bare: 'strict' },
  ),
};

type ChangeValues = ValuesOf<ReturnType<typeof changeFlags>>;

/** Where a change ends: in the store, at the server or at this program. */
export type DryRun = 'none' | 'server' | 'client';

/** @throws CommandError */
export function dryRunOf({ dryRun }: Pick<ChangeValues, 'dryRun'>, io: Pick<Io, 'stderr'>): DryRun {
  if (dryRun === 'unchanged') {
    warn(io, '--dry-run without a value is deprecated and can be replaced with --dry-run=client.');
    return 'client';
  }
  if (dryRun === 'none' || dryRun === 'server' || dryRun === 'client') return dryRun;
  throw new CommandError(`invalid dry-run value (${dryRun}). Must be "none", "server", or "client".`);
}

/** The field validation of `--validate` (resource-api.md, "Field validation"). @throws CommandError */
export function fieldValidationOf({ validate }: ValuesOf<typeof validateFlag>): 'Strict' | 'Warn' | 'Ignore' {
  if (validate === 'strict' || validate === 'true') return 'Strict';
  if (validate === 'warn') return 'Warn';
  if (validate === 'ignore' || validate === 'false') return 'Ignore';
  throw new CommandError(
    `invalid - validate option ${JSON.stringify(validate)}; must be one of: strict (or true), warn, ignore (or false)`,
  );
}

/** The query of a write. */
export const changeQuery = ({ fieldManager }: Pick<ChangeValues, 'fieldManager'>, dryRun: DryRun) => ({
  fieldManager,
  ...(dryRun === 'server' ? { dryRun: 'All' } : {}),
});

/** Reports changed objects: in the format of `-o`, otherwise as `configmap/a created`. */
export class Reporter {
  readonly #printer: Printer | undefined;
  readonly #suffix: string;
  readonly #write: (line: string) => unknown;

  private constructor(printer: Printer | undefined, suffix: string, write: (line: string) => unknown) {
    this.#printer = printer;
    this.#suffix = suffix;
    this.#write = write;
  }

  /** @throws CommandError */
  static async open(values: ValuesOf<typeof outputFlags>, dryRun: DryRun, { stdout, folder }: Io): Promise<Reporter> {
    const write = (line: string) => stdout.write(line);
    const suffix = dryRun === 'none' ? '' : dryRun === 'server' ? ' (server dry run)' : ' (dry run)';
    return new Reporter(await printerOf(values, { write, folder }), suffix, write);
  }

  changed(object: JsonObject, operation: string): void {
    if (this.#printer !== undefined) this.#printer.print(object);
    else this.#write(`${printedName(object)} ${operation}${this.#suffix}\n`);
  }
}
