import type { Random } from './random.ts';

/** The size limit of mutated inputs (bytes); one in two hundred may have the size of a whole body. */
const usualSize = 32 * 1024;
const bodySize = 3 * 1024 * 1024;

/** Bytes with a special meaning for parsers. */
const oddities = [
  '\0',
  '\n',
  '\r\n',
  '\t',
  '"',
  "'",
  '\\',
  '%',
  '\u007f',
  '\u0080',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '😀',
  '__proto__',
  'constructor',
  '-1',
  '0',
  '9223372036854775808',
  '1e400',
  '1e-400',
  '0.1',
  'null',
  'true',
].map((text) => Buffer.from(text));
const invalidUtf8 = [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]].map((bytes) =>
  Buffer.from(bytes),
);

/** The sources of mutations. */
export interface Material {
  /** Seed inputs; at least one. */
  readonly seeds: readonly Uint8Array[];
  /** Dictionary: tokens of the grammar. */
  readonly words: readonly string[];
}

/** A copy of one of the seeds with one to eight changes. */
export function mutate(random: Random, material: Material): Buffer {
  const limit = random.once(200) ? bodySize : usualSize;
  let bytes: Buffer = Buffer.from(random.pick(material.seeds));
  const changes = random.once(4) ? 1 + random.below(8) : 1 + random.below(2);
  for (let i = 0; i < changes; i++) bytes = change(random, bytes, material, limit).subarray(0, limit);
  return bytes;
}

function change(random: Random, bytes: Buffer, { seeds, words }: Material, limit: number): Buffer {
  const [from, to] = range(random, bytes.length);
  const without = () => [bytes.subarray(0, from), bytes.subarray(to)] as const;
  switch (random.below(9)) {
    case 0: {
      const out = Buffer.from(bytes);
      if (out.length > 0) out[from % out.length] = random.below(256);
      return out;
    }
    case 1:
      return Buffer.concat(without());
    case 2:
      return bytes.subarray(0, from);
    case 3: {
      const [before, after] = without();
      return Buffer.concat([before, piece(random, words), after]);
    }
    case 4:
      return Buffer.concat([bytes.subarray(0, from), piece(random, words), bytes.subarray(from)]);
    case 5: {
      const other = random.pick(seeds);
      const [start, end] = range(random, other.length);
      return Buffer.concat([bytes.subarray(0, from), other.subarray(start, end), bytes.subarray(to)]);
    }
    case 6: {
      const [before, after] = without();
      return Buffer.concat([before, repeated(random, bytes.subarray(from, to), limit), after]);
    }
    case 7: {
      // Balanced brackets.
      const [before, after] = without();
      const [open, close] = random.pick([
        ['[', ']'],
        ['{"a":', '}'],
        ['(', ')'],
        ['- ', ''],
      ] as const);
      const times = random.power(12);
      return Buffer.concat([
        before,
        Buffer.from(open.repeat(times)),
        bytes.subarray(from, to),
        Buffer.from(close.repeat(times)),
        after,
      ]);
    }
    default: {
      const [before, after] = without();
      return Buffer.concat([before, repeated(random, piece(random, words), limit), after]);
    }
  }
}

function range(random: Random, length: number): readonly [from: number, to: number] {
  const from = random.below(length + 1);
  const size = random.once(3) ? random.below(length - from + 1) : Math.min(random.below(16), length - from);
  return [from, from + size];
}

function piece(random: Random, words: readonly string[]): Buffer {
  if (words.length > 0 && !random.once(3)) return Buffer.from(random.pick(words));
  return random.once(8) ? random.pick(invalidUtf8) : random.pick(oddities);
}

function repeated(random: Random, bytes: Buffer, limit: number): Buffer {
  if (bytes.length === 0) return bytes;
  const times = Math.min(random.power(21), Math.ceil(limit / bytes.length));
  return Buffer.alloc(bytes.length * times, bytes);
}

/**
 * Minimises a failing input by removing ever smaller parts; returns the input itself when no part can be removed. Calls
 * `fails` at most `tries` times.
 */
export async function minimise(
  input: Uint8Array,
  fails: (bytes: Uint8Array) => boolean | Promise<boolean>,
  tries: number,
): Promise<Buffer> {
  let best: Buffer = Buffer.from(input);
  let left = tries;
  for (let size = Math.ceil(best.length / 2); size >= 1 && left > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length && left > 0; ) {
      const smaller = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      left--;
      if (await fails(smaller)) best = smaller;
      else at += size;
    }
  }
  return best;
}
