import type { Random } from '../../../meta/index.ts';

/** Repeatable choices. */
export interface Choices extends Random {
  pick<T>(items: readonly T[]): T;
  /** True with this probability (0 to 1). */
  chance(probability: number): boolean;
  bytes(length: number): Uint8Array;
}

/** The choices of one purpose of a seed: other purposes do not change them. */
export function choicesOf(seed: number, purpose: string): Choices {
  const next = generator(hashOf(`${seed}/${purpose}`));
  const integer = (below: number) => Math.floor((next() / 2 ** 32) * below);
  const hex = (digits: number) => next().toString(16).padStart(8, '0').slice(0, digits);
  return {
    integer,
    pick: (items) => items[integer(items.length)] as (typeof items)[number],
    chance: (probability) => next() < probability * 2 ** 32,
    bytes: (length) => Uint8Array.from({ length }, () => next() & 0xff),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(8)}${hex(4)}`,
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** mulberry32: whole numbers below 2^32. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
