/** Limits on the estimated cost of the rules of a definition. */
import { type FieldError, fieldError, getKey } from '../../meta/index.ts';
import type { Structural } from '../structural.ts';
import { limitOf, maxRequestSize, minSizeOf } from './sizes.ts';

/** Of one rule, for all values of an object that it applies to. */
export const maxRuleCost = 10_000_000;
/** Of all rules of a schema. */
const maxTotalCost = 100_000_000;

const unlimited = 2 ** 64;

/** How often the values below a schema are in each value of it; undefined: any number. */
export function factorOf(structural: Structural): number | undefined {
  if (structural.type === 'array') return limitOf(structural, 'maxItems');
  const values = structural.type === 'object' ? (getKey(structural.schema, 'additionalProperties') ?? null) : null;
  return values === null ? 1 : limitOf(structural, 'maxProperties');
}

/** The cost of an expression for all values of a schema in an object; `count`: how many there are, where it is known. */
export function totalOf(cost: number, count: number | undefined, structural: Structural): number {
  const factor = count ?? Math.floor(maxRequestSize / ((minSizeOf(structural) ?? 0) + 1));
  return cost === 0 ? 0 : Math.min(cost * factor, unlimited);
}

export function excessText(name: string, cost: number, limit: number): string {
  const excess = cost / limit;
  const factor = excess > 100 ? 'more than 100' : excess.toFixed(excess < 1.5 ? 6 : 1);
  return `${name} exceeds budget by factor of ${factor}x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** The costs of all rules of a schema. */
export class TotalCost {
  #total = 0;
  readonly #expensive: { readonly path: string; readonly cost: number }[] = [];

  add(path: string, cost: number): void {
    this.#total = Math.min(this.#total + cost, unlimited);
    if (cost < maxTotalCost / 100) return;
    this.#expensive.push({ path, cost });
    this.#expensive.sort((a, b) => b.cost - a.cost).splice(4);
  }

  /** The errors of the total: one for each of the most expensive rules, and one for the schema. */
  errors(path: string, extension: string): FieldError[] {
    if (this.#total <= maxTotalCost) return [];
    const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const name = `${extension} estimated rule cost total for entire OpenAPIv3 schema`;
    return [
      ...this.#expensive.map((one) => fieldError.forbidden(one.path, why)),
      fieldError.forbidden(path, excessText(name, this.#total, maxTotalCost)),
    ];
  }
}
