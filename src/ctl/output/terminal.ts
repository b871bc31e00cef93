/** Colours of terminals, and outputs that know whether they have them. */
import type { Io, ProgramIo } from '../io.ts';
import type { ColouredOutput, Output } from './output.ts';
import { ProgressLine } from './progress-line.ts';

/** The codes of ECMA-48, 8.3.117. */
const codes = { red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Colour = keyof typeof codes;

/** The text in a colour, where the output has colours and one is named. */
export const paint = ({ hasColours }: ColouredOutput, colour: Colour | undefined, text: string): string =>
  hasColours && colour !== undefined ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;

/** Writes a warning to standard error. */
export function warn({ stderr }: Pick<Io, 'stderr'>, text: string): void {
  stderr.write(`${paint(stderr, 'yellow', 'Warning:')} ${text}\n`);
}

/**
 * The streams of a command: with colours on a terminal, unless the variable `NO_COLOR` is set (no-color.org) or the terminal is
 * `dumb`; and with a progress line on standard error.
 */
export function ioOf(program: ProgramIo): Io {
  const { stdout, stderr, clock, env } = program;
  const allowed = (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const progress = new ProgressLine(stderr, clock);
  const above = (output: Output): ColouredOutput => ({
    hasColours: allowed && output.isTTY === true,
    isTTY: output.isTTY,
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
    write: (text) => {
      progress.erase();
      return output.write(text);
    },
    on: (event, listener) => output.on?.(event, listener),
    off: (event, listener) => output.off?.(event, listener),
  });
  return { ...program, stdout: above(stdout), stderr: above(stderr), progress };
}
