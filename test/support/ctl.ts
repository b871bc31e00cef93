import { type ProgramIo, runCtl } from '../../src/ctl/index.ts';

export interface CtlEnd {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CtlOptions {
  readonly env?: { readonly [name: string]: string };
  /** The folder that files are relative to; also the home folder. */
  readonly folder: string;
  readonly stdin?: string;
  readonly signal?: AbortSignal;
}

/** Runs `orch ctl` in this process. */
export async function ctl(args: readonly string[], options: CtlOptions): Promise<CtlEnd> {
  const { env = {}, folder, stdin = '', signal = new AbortController().signal } = options;
  const [out, err]: [string[], string[]] = [[], []];
  const io: ProgramIo = {
    stdout: { write: (text) => out.push(text.toString()) },
    stderr: { write: (text) => err.push(text.toString()) },
    stdin: {
      async *[Symbol.asyncIterator]() {
        yield Buffer.from(stdin);
      },
    },
    env,
    home: folder,
    folder,
    clock: { now: Date.now },
    signal,
    version: '0.0.0',
    convert: async () => {},
  };
  const code = await runCtl(args, io);
  return { code, out: out.join(''), err: err.join('') };
}

/** Splits a command line at spaces; quotes keep them, and `\n` in double quotes is a line feed. */
export function wordsOf(line: string): string[] {
  const words = line.match(/(?:[^\s'"]|'[^']*'|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return words.map((word) =>
    word.replace(
      /'([^']*)'|"((?:[^"\\]|\\.)*)"/g,
      (_, single?: string, double?: string) =>
        single ?? (double ?? '').replaceAll(/\\(.)/g, (_all, c: string) => (c === 'n' ? '\n' : c)),
    ),
  );
}
