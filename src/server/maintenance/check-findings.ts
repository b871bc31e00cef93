import type { JsonObject } from '../../meta/index.ts';

/** The checks, and the severity of their findings. */
export const checks = {
  /** The store or the backup can be read to its end. */
  store: 'error',
  /** Keys are in order, each once; revisions are between 1 and that of the store. */
  revision: 'error',
  /** A key belongs to an object, or to other data of servers. */
  key: 'warning',
  /** A value can be decrypted with the keys of the configuration. */
  decryption: 'error',
  /** Encrypted values were not checked, because no configuration is set. */
  encrypted: 'warning',
  /** A value is an object of the kind of its key, and decodes against its type. */
  object: 'error',
  /** An object has no field that its type does not declare. */
  fields: 'warning',
  /** A custom object is valid against the current schema of its definition. */
  schema: 'warning',
  /** Namespace and name of an object match its key. */
  name: 'error',
  /** The uid of an object is unique. */
  uid: 'error',
  /** The namespace of an object exists. */
  namespace: 'warning',
  /** The definition of a custom object exists. */
  definition: 'warning',
  /** Owners exist, with the name and in the namespace of the reference. */
  owner: 'warning',
  /** Cluster IPs and node ports are allocated as services use them. */
  allocation: 'error',
} as const;

export type Check = keyof typeof checks;

export interface Finding {
  readonly check: Check;
  /** Undefined when the finding concerns no single key. */
  readonly key: string | undefined;
  readonly message: string;
}

/** Maximum number of findings per check that are listed; all are counted. */
const maxRetained = 100;

/** Maximum length of the text of a finding. */
const maxTextLength = 2_000;

/** Escapes control characters of stored data for the terminal, and truncates it. */
const printable = (text: string): string =>
  (text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text).replaceAll(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The findings of all checks. */
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

  /** A line for each listed finding, errors first. */
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
