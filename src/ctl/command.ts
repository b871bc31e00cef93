import type { Cluster } from './cluster/cluster.ts';
import type { FlagTable, ValuesOf } from './flags/flag.ts';
import type { GlobalValues } from './flags/global-flags.ts';
import type { Io } from './io.ts';

/** A command of the client. */
export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, for lists of commands. */
  readonly summary: string;
  /** The beginning of the help; by default the summary. */
  readonly description?: string;
  /** The arguments in the usage line, such as `TYPE NAME`. */
  readonly usage: string;
  readonly examples: readonly Example[];
  readonly flags: FlagTable;
  readonly subcommands?: readonly Command[];
  /** Flags after the first argument belong to a program that the command starts. */
  readonly stopAtArgument?: boolean;
  /** Returns the exit status; by default 0. Absent where only subcommands do something. */
  run?(context: CommandContext<FlagTable>): Promise<number | undefined>;
}

/** A title and its lines, which begin with `ctl` where they call the program. */
export interface Example {
  readonly title: string;
  readonly lines: readonly string[];
}

/** The input of a command. */
export interface CommandContext<F> {
  readonly args: readonly string[];
  /** The number of arguments before `--`; undefined without it. */
  readonly argsBeforeDash: number | undefined;
  readonly flags: ValuesOf<F>;
  /** Whether the command line has a flag. */
  readonly isSet: (key: keyof F | keyof GlobalValues) => boolean;
  readonly globals: GlobalValues;
  readonly io: Io;
  /** How the command was called: `orch ctl get`. */
  readonly path: string;
  /** The server of the kubeconfig and of the global flags; connects at the first request. @throws CommandError */
  readonly cluster: () => Promise<Cluster>;
}

interface CommandDefinition<F extends FlagTable> extends Omit<Command, 'flags' | 'run' | 'aliases'> {
  readonly aliases?: readonly string[];
  readonly flags: F;
  run?(context: CommandContext<F>): Promise<number | undefined>;
}

/** Types the context of a command by its flags. */
export const command = <F extends FlagTable>(definition: CommandDefinition<F>): Command => definition;
