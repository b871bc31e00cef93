import { StatusError } from '../src/meta/index.ts';
import { type Material, mutate } from './mutate.ts';
import { Random } from './random.ts';

/** A decoder or parser of client input. */
export interface Target extends Material {
  /** `<room>-<name>`; also its folder in the corpus. */
  readonly name: string;
  /** Generates an input that is valid or nearly valid. */
  readonly generate?: (random: Random) => string | Uint8Array;
  /**
   * Parses the bytes. Returns for valid input and throws a StatusError for invalid input; any other error is a finding,
   * including the violation of a law.
   */
  readonly run: (bytes: Uint8Array) => unknown;
  /** Status codes of rejections other than 4xx. */
  readonly codes?: readonly number[];
  /** How long an input may block its thread (ms), where that is not the event loop of the server. */
  readonly threadMs?: number;
  /** The size limit of the transport (bytes), where it is less than that of a body. */
  readonly limit?: number;
}

/** The size limit of a header or a URL (bytes). */
export const headerSize = 64 * 1024;

/** The size limit of an error (bytes of its JSON). */
const maxRefusal = 2 * 1024 * 1024;

/** The input of a target with this index in a run (deterministic). */
export function inputOf(target: Target, seed: number, index: number): Uint8Array {
  return made(target, new Random(seed, target.name, index), index).subarray(0, target.limit);
}

function made(target: Target, random: Random, index: number): Uint8Array {
  if (index < target.seeds.length) return target.seeds[index] as Uint8Array;
  if (target.generate === undefined || random.once(2)) return mutate(random, target);
  const whole = Buffer.from(target.generate(random));
  return random.once(3) ? mutate(random, { seeds: [whole], words: target.words }) : whole;
}

/** The violation of a target for an input; undefined when there is none. */
export async function violationOf(target: Target, bytes: Uint8Array): Promise<string | undefined> {
  try {
    await target.run(bytes);
  } catch (error) {
    const fault = faultOf(error, target.codes ?? []);
    if (fault !== undefined) return fault;
  }
  for (const key in Object.prototype) {
    Reflect.deleteProperty(Object.prototype, key);
    return `Object.prototype has the property ${JSON.stringify(key)}`;
  }
  return undefined;
}

function faultOf(error: unknown, codes: readonly number[]): string | undefined {
  if (!(error instanceof StatusError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  if ((error.code < 400 || error.code > 499) && !codes.includes(error.code)) {
    return `refused with ${error.code}: ${error.stack}`;
  }
  const size = JSON.stringify(error.toStatus()).length;
  return size > maxRefusal ? `a refusal of ${size} bytes` : undefined;
}

/** Throws when a law (an invariant, stated by its name) does not hold. */
export function law(holds: boolean, name: string): void {
  if (!holds) throw new Error(`law broken: ${name}`);
}

/** A signature to deduplicate findings: the first line and location, without variable parts. */
export function signatureOf(finding: string): string {
  const [first = '', ...stack] = finding.split('\n');
  const place = stack.find((line) => /\bat\b/.test(line) && !line.includes('node_modules')) ?? '';
  return `${first.replace(/\d+/g, '#').slice(0, 120)} ${place.trim().replace(/\(.*[\\/]/, '(')}`;
}
