import { StatusError } from '../src/meta/index.ts';
import { type Material, mutate } from './mutate.ts';
import { Random } from './random.ts';

/** Something that reads what clients send. */
export interface Target extends Material {
  /** `<room>-<what>`: also the folder of its inputs in the corpus. */
  readonly name: string;
  /** An input made by the grammar of the target, right or nearly right. */
  readonly generate?: (random: Random) => string | Uint8Array;
  /**
   * Reads the bytes. Returns for those it accepts, throws a StatusError for those it refuses; whatever else it throws
   * is a finding, the violation of a law included.
   */
  readonly run: (bytes: Uint8Array) => unknown;
  /** Codes beyond 4xx that the wire has for a refusal. */
  readonly codes?: readonly number[];
  /** How long an input may hold its thread (ms), where that is not the event loop of the server. */
  readonly threadMs?: number;
  /** The most that the transport lets through to it (bytes), where that is less than a body. */
  readonly limit?: number;
}

/** What a header or a URL can hold (bytes). */
export const headerSize = 64 * 1024;

/** The largest refusal (bytes of its JSON), whatever is refused. */
const maxRefusal = 2 * 1024 * 1024;

/** The input of a target with this index in a run: always the same one. */
export function inputOf(target: Target, seed: number, index: number): Uint8Array {
  return made(target, new Random(seed, target.name, index), index).subarray(0, target.limit);
}

function made(target: Target, random: Random, index: number): Uint8Array {
  if (index < target.seeds.length) return target.seeds[index] as Uint8Array;
  if (target.generate === undefined || random.once(2)) return mutate(random, target);
  const whole = Buffer.from(target.generate(random));
  return random.once(3) ? mutate(random, { seeds: [whole], words: target.words }) : whole;
}

/** What is wrong with how a target treats an input; undefined when nothing is. */
export async function judge(target: Target, bytes: Uint8Array): Promise<string | undefined> {
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

/** Throws when a law does not hold: the name of the law says what should be. */
export function law(holds: boolean, name: string): void {
  if (!holds) throw new Error(`law broken: ${name}`);
}

/** What tells findings of one cause apart from those of another: the first line and place, without what varies. */
export function signatureOf(finding: string): string {
  const [first = '', ...stack] = finding.split('\n');
  const place = stack.find((line) => /\bat\b/.test(line) && !line.includes('node_modules')) ?? '';
  return `${first.replace(/\d+/g, '#').slice(0, 120)} ${place.trim().replace(/\(.*[\\/]/, '(')}`;
}
