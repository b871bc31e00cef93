import type { ColouredOutput, Output } from './output/output.ts';
import type { ProgressLine } from './output/progress-line.ts';

/** Where the program reads and writes: the process, or a replacement in tests. */
export interface ProgramIo {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Input;
  readonly env: { readonly [name: string]: string | undefined };
  /** The home folder of the user. */
  readonly home: string;
  /** The folder that relative paths start at. */
  readonly folder: string;
  readonly clock: { now(): number };
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
  /** The version of the program. */
  readonly version: string;
  /** Runs `orch convert` with its arguments. */
  readonly convert: (args: readonly string[]) => Promise<void>;
}

/** Where a command reads and writes. */
export interface Io extends ProgramIo {
  readonly stdout: ColouredOutput;
  readonly stderr: ColouredOutput;
  /** Tells people what a command waits for. */
  readonly progress: ProgressLine;
}

export interface Input extends AsyncIterable<Uint8Array> {
  readonly isTTY?: boolean | undefined;
  /** Passes on each key as it is, without echo and without signals. Absent without a terminal. */
  setRawMode?(raw: boolean): unknown;
}
