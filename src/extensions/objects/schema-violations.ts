import { type FieldError, fieldError, type Json } from '../../meta/index.ts';

/** A violation of the schema, with its path below the validated value. */
export type SchemaViolation =
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

/** Maximum number of recorded violations of one value: as many errors as a Status reports. */
const MAX_VIOLATIONS = 1_000;

/** The outcome of the validation of one value. */
export class Outcome {
  readonly #violations: SchemaViolation[] = [];
  /** The number of passed checks, which selects the best of several schemas. */
  matches = 0;

  get isValid(): boolean {
    return this.#violations.length === 0;
  }

  /** Whether the maximum is reached; further violations are dropped. */
  get isFull(): boolean {
    return this.#violations.length >= MAX_VIOLATIONS;
  }

  /** The distinct violations. */
  get violations(): Iterable<SchemaViolation> {
    const ids = new Map<unknown, number>();
    const unique = new Map<string, SchemaViolation>();
    for (const violation of this.#violations) {
      // Values and enumerations are the same objects in equal violations: their text may be long.
      const key = Object.values(violation).map((part: unknown) => {
        if (typeof part !== 'object' || part === null) return String(part);
        if (!ids.has(part)) ids.set(part, ids.size);
        return ids.get(part);
      });
      unique.set(JSON.stringify(key), violation);
    }
    return unique.values();
  }

  add(violation: SchemaViolation): void {
    if (!this.isFull) this.#violations.push(violation);
  }

  merge(other: Outcome): void {
    for (const violation of other.#violations) this.add(violation);
    this.matches += other.matches;
  }

  /** Drops all violations. */
  forgive(): void {
    this.#violations.length = 0;
  }
}

const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** The field error of a violation; `base` is the path of the validated value, empty for a whole object. */
export function errorOf(violation: SchemaViolation, base: string): FieldError {
  const root = base === '' ? '<nil>' : base;
  if (violation.kind === 'whole') return fieldError.invalid(root, '', violation.why);
  const below = violation.path.replace(/^\./, '');
  const field = below === '' ? root : base === '' ? below : `${base}.${below}`;
  switch (violation.kind) {
    case 'required':
      return fieldError.required(field);
    case 'notSupported':
      return fieldError.notSupported(
        field,
        violation.value,
        violation.values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value, plain))),
      );
    case 'tooLong':
      return fieldError.tooLong(field, violation.max);
    case 'tooMany':
      return fieldError.tooMany(field, violation.actual, violation.max);
    case 'type':
      return fieldError.typeInvalid(field, violation.value, violation.why);
    default:
      return fieldError.invalid(field, violation.value, violation.why);
  }
}
