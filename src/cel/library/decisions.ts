/**
 * Decisions of an authorizer, which may take its time, for expressions, which do not wait: an evaluation that
 * needs a decision ends with what it asks for, and is repeated when the decision is known.
 */
import type { ResourcePlace, Selectors, User } from '../../meta/index.ts';
import { CostLimitExceeded, Interruption } from '../values.ts';

/** What an expression asks an authorizer. */
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
  /** Why there is no decision. */
  readonly error?: string;
}

/** The decision, as far as it is known. */
export type Decide = (attributes: AccessAttributes) => AccessDecision | undefined;

/** An evaluation needs a decision that is not known yet. */
export class PendingDecision extends Interruption {
  readonly attributes: AccessAttributes;

  constructor(attributes: AccessAttributes) {
    super('an authorization check is pending');
    this.attributes = attributes;
  }
}

/** Decisions by what was asked, to be shared by the expressions of one request. */
export type KnownDecisions = Map<string, AccessDecision>;

export interface DecisionOptions {
  /** Set back before each repetition, so that what is evaluated again is counted once. */
  readonly budget?: { remaining: number };
  readonly known?: KnownDecisions;
}

/**
 * The decisions that one call asks for at most. Every repetition evaluates all again; an expression that stays within
 * its cost limit asks for two or three.
 */
const maxDecisions = 64;

/**
 * The result of an evaluation for whose checks the authorizer is asked, one after the other and each once. A failure of
 * the authorizer is a decision with an error.
 * @throws CostLimitExceeded when the evaluation asks for too many decisions
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
    if (count === maxDecisions) throw new CostLimitExceeded('operation cancelled: too many authorization checks');
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
