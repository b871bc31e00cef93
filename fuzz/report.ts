import { keep } from './corpus.ts';

/** A finding. */
export interface Finding {
  /** The target, request generator or scenario. */
  readonly where: string;
  readonly what: string;
  /** To reproduce it: the seed of the run and the index of the input. */
  readonly made: string;
  /** The minimised input; a scenario has none. */
  readonly input?: Uint8Array;
}

const shown = 4_000;
let found = 0;

/** Prints a finding and saves its input in the corpus. */
export function tell({ where, what, made, input }: Finding): void {
  found++;
  const file = input === undefined ? '' : `\n  input: ${keep(where, input)} (${input.length} bytes)`;
  console.log(`\n✗ ${where}: ${what.slice(0, shown)}\n  made by: ${made}${file}`);
}

/** The number of reported findings. */
export const findings = (): number => found;

/** Prints the summary of a part. */
export function say(text: string): void {
  console.log(text);
}

/** Prints how much was run of a target or generator; none is a finding. */
export function sayRun(name: string, count: number, what: string): void {
  say(`  ${name}: ${count} ${what}`);
  if (count === 0)
    tell({ where: name, what: `ran no ${what}`, made: 'too few --seconds, or findings that took them all' });
}
