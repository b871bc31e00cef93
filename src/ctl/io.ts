/** Where a command reads and writes: the process, or a replacement in tests. */
export interface Io {
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

export interface Output {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean | undefined;
  /** The width of the terminal. */
  readonly columns?: number | undefined;
}

export interface Input extends AsyncIterable<Uint8Array> {
  readonly isTTY?: boolean | undefined;
}
