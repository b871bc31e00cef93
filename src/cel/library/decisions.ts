/**
 * Decisions of an authorizer, which may take its time, for expressions, which do not wait: an evaluation that
 * needs a decision ends with what it asks for, and is repeated when the decision is known.
 */
import type { ResourcePlace, Selectors, User } from '../../meta/index.ts';
import { CostLimitError, Interruption } from '../values.ts';

/** The attributes of an authorization check in an expression. */
export interface AccessAttributes {
  readonly user: User;
  readonly verb: string;
  /** Undefined for a check of a path. Its version is `*`. */
  readonly resource: ResourcePlace | undefined;
  readonly path: string;
  readonly selectors: Selectors;
}

export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason: string;
  /** The reason why the check failed. */
  readonly error?: string;
}

/** Returns the decision if it is known. */
export type Decide = (attributes: AccessAttributes) => AccessDecision | undefined;

/** Interrupts an evaluation that needs an unknown decision. */
export class PendingDecision extends Interruption {
  readonly attributes: AccessAttributes;

  constructor(attributes: AccessAttributes) {
    super('an authorization check is pending');
    this.attributes = attributes;
  }
}

/** Decisions by request, shared by the expressions of one API request. */
export type KnownDecisions = Map<string, AccessDecision>;

export interface DecisionOptions {
  /** Reset before each repetition, so that repeated work is charged once. */
  readonly budget?: { remaining: number };
  readonly known?: KnownDecisions;
}

/**
 * Maximum number of decisions of one call. Every repetition evaluates the whole expression again; an expression within
 * its cost limit needs two or three.
 */
const maxDecisions = 64;

/**
 * Evaluates an expression and calls the authorizer for each of its checks, one after the other. A failure of the
 * authorizer is a decision with an error.
 * @throws CostLimitError when the evaluation needs too many decisions
 */
export async function evaluateWithDecisions<T>(
  evaluate: (decide: Decide) => T | Promise<T>,
  authorize: (attributes: AccessAttributes) => AccessDecision | Promise<AccessDecision>,
  { budget, known = new Map() }: DecisionOptions = {},
): Promise<T> {
  const decide: Decide = (attributes) => known.get(keyOf(attributes));
  const remaining = budget?.remaining ?? 0;
  for (let count = 0; ; count++) {
    const result = await attempt(evaluate, decide);
    if (!(result instanceof PendingDecision)) return result;
    if (count === maxDecisions) throw new CostLimitError('operation cancelled: too many authorization checks');
    known.set(keyOf(result.attributes), await decisionOf(result.attributes, authorize));
    if (budget !== undefined) budget.remaining = remaining;
  }
}

async function attempt<T>(evaluate: (decide: Decide) => T | Promise<T>, decide: Decide): Promise<T | PendingDecision> {
  try {
    return await evaluate(decide);
  } catch (error) {
    if (error instanceof PendingDecision) return error;
    throw error;
  }
}

async function decisionOf(
  attributes: AccessAttributes,
  authorize: (attributes: AccessAttributes) => AccessDecision | Promise<AccessDecision>,
): Promise<AccessDecision> {
  try {
    return await authorize(attributes);
  } catch (error) {
    return { allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) };
  }
}

/** The same for equal attributes. */
function keyOf({ user, verb, resource, path, selectors }: AccessAttributes): string {
  const { name, uid, groups, extra } = user;
  const place = resource && [
    resource.group,
    resource.resource,
    resource.subresource,
    resource.namespace,
    resource.name,
  ];
  return JSON.stringify([
    verb,
    place,
    path,
    selectors.fieldSelector?.text,
    selectors.labelSelector?.text,
    [name, uid, groups, extra],
  ]);
}
