/** How many values a validation may compare with schemas: some 100 ms. Alternatives within alternatives multiply. */
export const maxChecks = 4_000_000;
/** The same for the explanation why a value is not valid, which takes several times as long for each. */
export const maxExplained = 500_000;

class TooManyChecks extends Error {}
const tooManyChecks = new TooManyChecks('too many values are compared with schemas');

/** What is left to the running validation. */
let left = 0;

/** Counts the comparison of a value with a schema. */
export function countCheck(): void {
  if (--left < 0) throw tooManyChecks;
}

/** The result of a validation that counts its checks; undefined when it takes more than `limit`. */
export function withinChecks<T>(limit: number, validate: () => T): T | undefined {
  left = limit;
  try {
    return validate();
  } catch (error) {
    if (error instanceof TooManyChecks) return undefined;
    throw error;
  }
}
