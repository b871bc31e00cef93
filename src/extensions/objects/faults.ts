import { type FieldError, fieldError, type Json } from '../../meta/index.ts';

/** What is wrong with a value, by its path below the validated value. */
export type Fault =
  | { readonly kind: 'required'; readonly path: string }
  | { readonly kind: 'notSupported'; readonly path: string; readonly value: Json; readonly values: readonly Json[] }
  | { readonly kind: 'tooLong'; readonly path: string; readonly max: number }
  | {
      readonly kind: 'tooMany';
      readonly path: string;
      readonly actual: number;
      readonly max: number;
      readonly of: string;
    }
  | { readonly kind: 'type' | 'invalid'; readonly path: string; readonly value: Json; readonly why: string }
  /** Reported at the validated value, without a value of its own. */
  | { readonly kind: 'whole'; readonly why: string };

/** How many faults of one value are kept: as many errors as a Status reports. */
const MAX_FAULTS = 1_000;

/** The outcome of the validation of one value. */
export class Outcome {
  readonly #faults: Fault[] = [];
  /** The number of checks that passed, by which the best of several schemas is chosen. */
  matches = 0;

  get isValid(): boolean {
    return this.#faults.length === 0;
  }

  /** No further faults are kept. */
  get isFull(): boolean {
    return this.#faults.length >= MAX_FAULTS;
  }

  /** Each once. */
  get faults(): Iterable<Fault> {
    const ids = new Map<unknown, number>();
    const found = new Map<string, Fault>();
    for (const fault of this.#faults) {
      // Values and enumerations are the same objects in equal faults: their text may be long.
      const key = Object.values(fault).map((part: unknown) => {
        if (typeof part !== 'object' || part === null) return String(part);
        if (!ids.has(part)) ids.set(part, ids.size);
        return ids.get(part);
      });
      found.set(JSON.stringify(key), fault);
    }
    return found.values();
  }

  add(fault: Fault): void {
    if (!this.isFull) this.#faults.push(fault);
  }

  merge(other: Outcome): void {
    for (const fault of other.#faults) this.add(fault);
    this.matches += other.matches;
  }

  /** The faults no longer count. */
  forgive(): void {
    this.#faults.length = 0;
  }
}

const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** The field error of a fault; `base` is the path of the validated value, empty for a whole object. */
export function errorOf(fault: Fault, base: string): FieldError {
  const root = base === '' ? '<nil>' : base;
  if (fault.kind === 'whole') return fieldError.invalid(root, '', fault.why);
  const below = fault.path.replace(/^\./, '');
  const field = below === '' ? root : base === '' ? below : `${base}.${below}`;
  switch (fault.kind) {
    case 'required':
      return fieldError.required(field);
    case 'notSupported':
      return fieldError.notSupported(
        field,
        fault.value,
        fault.values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value, plain))),
      );
    case 'tooLong':
      return fieldError.tooLong(field, fault.max);
    case 'tooMany':
      return fieldError.tooMany(field, fault.actual, fault.max);
    case 'type':
      return fieldError.typeInvalid(field, fault.value, fault.why);
    default:
      return fieldError.invalid(field, fault.value, fault.why);
  }
}
