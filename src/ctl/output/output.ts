/** Where text is written: a stream of the process, or a replacement in tests. */
export interface Output {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean | undefined;
  /** The width and the height of the terminal (characters). */
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /** Receives changes of the size of the terminal. */
  on?(event: 'resize', listener: () => void): unknown;
  off?(event: 'resize', listener: () => void): unknown;
}

export interface ColouredOutput extends Output {
  /** Whether texts may have colours. */
  readonly hasColours: boolean;
}
