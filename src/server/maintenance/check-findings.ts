import type { JsonObject } from '../../meta/index.ts';

/** What is checked, and how bad it is when it does not hold. */
export const checks = {
  /** The store or the backup can be read to its end. */
  store: 'error',
  /** Keys are in order, each once; revisions are between 1 and that of the store. */
  revision: 'error',
  /** A key is that of an object, or of something that servers keep. */
  key: 'warning',
  /** A value can be decrypted with the keys of the given configuration. */
  decryption: 'error',
  /** Encrypted values have not been looked into, because no configuration was given. */
  encrypted: 'warning',
  /** A value is an object of the kind of its key, and decodes against its type. */
  object: 'error',
  /** An object has no field that its type does not declare. */
  fields: 'warning',
  /** A custom object is valid by the schema that its definition has now. */
  schema: 'warning',
  /** Namespace and name of an object are those of its key. */
  name: 'error',
  /** An object has a uid that no other one has. */
  uid: 'error',
  /** The namespace of an object is there. */
  namespace: 'warning',
  /** The definition of a custom object is there. */
  definition: 'warning',
  /** Owners are there, under the name and in the namespace of the reference. */
  owner: 'warning',
  /** Cluster IPs and node ports are allocated as the services have them. */
  allocation: 'error',
} as const;

export type Check = keyof typeof checks;

export interface Finding {
  readonly check: Check;
  /** Undefined: it is about no single key. */
  readonly key: string | undefined;
  readonly message: string;
}

/** So many findings of each check are kept; all are counted. */
const maxRetained = 100;

/** The longest text of a finding (characters). */
const maxTextLength = 2_000;

/** What is stored may be anything: no control character of it reaches a terminal, and only its beginning is shown. */
const printable = (text: string): string =>
  (text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text).replaceAll(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** What a check has found. */
export class Findings {
  readonly retained: Finding[] = [];
  readonly #counts = new Map<Check, number>();

  add(check: Check, key: string | undefined, message: string): void {
    const count = (this.#counts.get(check) ?? 0) + 1;
    this.#counts.set(check, count);
    if (count > maxRetained) return;
    this.retained.push({ check, key: key === undefined ? undefined : printable(key), message: printable(message) });
  }

  count(severity: (typeof checks)[Check]): number {
    let sum = 0;
    for (const [check, count] of this.#counts) if (checks[check] === severity) sum += count;
    return sum;
  }

  /** A line for each finding that is kept, errors first. */
  lines(): string[] {
    const lines = this.#sorted().map(
      ({ check, key, message }) => `${checks[check]} (${check}): ${key === undefined ? '' : `${key}: `}${message}`,
    );
    for (const [check, count] of this.#counts) {
      if (count > maxRetained) lines.push(`${checks[check]} (${check}): ${count - maxRetained} more`);
    }
    return lines;
  }

  json(): JsonObject[] {
    return this.#sorted().map(({ check, key, message }) => ({
      severity: checks[check],
      check,
      ...(key === undefined ? {} : { key }),
      message,
    }));
  }

  #sorted(): Finding[] {
    return this.retained.toSorted((a, b) =>
      checks[a.check] < checks[b.check] ? -1 : checks[a.check] > checks[b.check] ? 1 : 0,
    );
  }
}
