import { keep } from './corpus.ts';

/** Something that must not be. */
export interface Finding {
  /** Target, generator of requests or scenario. */
  readonly where: string;
  readonly what: string;
  /** How it is made again: the seed of the run and the number of the input in it. */
  readonly made: string;
  /** What it takes, made as small as it was worth; a scenario needs nothing but its name. */
  readonly input?: Uint8Array;
}

const shown = 4_000;
let found = 0;

/** Prints a finding and keeps its input. */
export function tell({ where, what, made, input }: Finding): void {
  found++;
  const file = input === undefined ? '' : `\n  input: ${keep(where, input)} (${input.length} bytes)`;
  console.log(`\n✗ ${where}: ${what.slice(0, shown)}\n  made by: ${made}${file}`);
}

/** How many findings were told. */
export const findings = (): number => found;

/** Prints how a part of the run went. */
export function say(text: string): void {
  console.log(text);
}
