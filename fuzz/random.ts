import { createHash } from 'node:crypto';

/** A pseudo-random generator (sfc32): the same seed gives the same numbers on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** The parts of the seed, such as the seed of the run, the name of the target and the index of the input. */
  constructor(...seed: readonly (string | number)[]) {
    const hash = createHash('sha256').update(JSON.stringify(seed)).digest();
    this.#a = hash.readInt32LE(0);
    this.#b = hash.readInt32LE(4);
    this.#c = hash.readInt32LE(8);
  }

  /** A uint32. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** An integer from 0 to `limit`, exclusive. */
  below(limit: number): number {
    return limit <= 1 ? 0 : this.next() % limit;
  }

  /** True with a probability of 1 in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('nothing to pick from');
    return from[this.below(from.length)] as T;
  }

  /** A list of `least` to `most` items. */
  list<T>(least: number, most: number, make: (index: number) => T): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, (_, index) => make(index));
  }

  /** 1, 2, 4… up to `2 ** highest`, with equal probability. */
  power(highest: number): number {
    return 2 ** this.below(highest + 1);
  }
}
