/** Authorization checks: `authorizer.group('apps').resource('deployments').check('create').allowed()`. */

import {
  dns1123Label,
  dns1123Subdomain,
  expressionTypes,
  type NameRule,
  type ResourcePlace,
  receiveSelectors,
  type User,
} from '../../meta/index.ts';
import { fixed, scale, sum } from '../cost/range.ts';
import { codePoints } from '../evaluation-cache.ts';
import type { Library } from '../library.ts';
import { boolType, opaqueType, stringType } from '../types.ts';
import { CelError, OpaqueValue, type Value } from '../values.ts';
import { type Costs, readingLong, sizeOf, stringFactor } from './costs.ts';
import { type AccessAttributes, type AccessDecision, type Decide, PendingDecision } from './decisions.ts';
import { methodOf } from './overloads.ts';

const typeNamed = (name: string) => opaqueType(`${expressionTypes}.authorization.${name}`);
export const authorizerType = typeNamed('Authorizer');
export const resourceCheckType = typeNamed('ResourceCheck');
const pathCheckType = typeNamed('PathCheck');
const groupCheckType = typeNamed('GroupCheck');
const decisionType = typeNamed('Decision');

/** Values that only functions can be called on. */
abstract class CheckValue extends OpaqueValue {
  /** @throws CelError always: as in the reference, they cannot be compared */
  equals(): boolean {
    throw new CelError('no such overload');
  }
}

/** Checks what a user may do. */
export class AuthorizerValue extends CheckValue {
  readonly typeName = authorizerType.name;
  readonly user: User;
  readonly #decide: Decide;

  constructor(user: User, decide: Decide) {
    super();
    this.user = user;
    this.#decide = decide;
  }

  /** The same for another user. */
  for(user: User): AuthorizerValue {
    return new AuthorizerValue(user, this.#decide);
  }

  /** @throws PendingDecision while the decision is not known */
  check(attributes: Omit<AccessAttributes, 'user'>): DecisionValue {
    const all = { ...attributes, user: this.user };
    const decision = this.#decide(all);
    if (decision === undefined) throw new PendingDecision(all);
    return new DecisionValue(decision);
  }
}

class PathCheckValue extends CheckValue {
  readonly typeName = pathCheckType.name;
  readonly authorizer: AuthorizerValue;
  readonly path: string;

  constructor(authorizer: AuthorizerValue, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheckValue extends CheckValue {
  readonly typeName = groupCheckType.name;
  readonly authorizer: AuthorizerValue;
  readonly group: string;

  constructor(authorizer: AuthorizerValue, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

/** The attributes of a resource check; absent ones are empty. */
interface ResourceCheck extends Omit<ResourcePlace, 'version'> {
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** A check of a resource, such as the variable `authorizer.requestResource`. */
export class ResourceCheckValue extends CheckValue {
  readonly typeName = resourceCheckType.name;
  readonly authorizer: AuthorizerValue;
  readonly check: ResourceCheck;

  constructor(authorizer: AuthorizerValue, check: Pick<ResourceCheck, 'group' | 'resource'> & Partial<ResourceCheck>) {
    super();
    this.authorizer = authorizer;
    this.check = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '', ...check };
  }
}

class DecisionValue extends CheckValue {
  readonly typeName = decisionType.name;
  readonly decision: AccessDecision;

  constructor(decision: AccessDecision) {
    super();
    this.decision = decision;
  }
}

function checkOfPath(authorizer: Value, path: Value): Value {
  if ((path as string).trim() === '') throw new CelError('path must not be empty');
  return new PathCheckValue(authorizer as AuthorizerValue, path as string);
}

const checkOfGroup = (authorizer: Value, group: Value): Value =>
  new GroupCheckValue(authorizer as AuthorizerValue, group as string);

const maxName = 253;
/** Whether a text satisfies a rule for names. A text that is too long is not matched. */
const isName = (text: string, rule: NameRule): boolean => text.length <= maxName && rule(text).length === 0;

function serviceAccount(authorizer: Value, namespace: Value, name: Value): Value {
  if (!isName(name as string, dns1123Subdomain)) throw new CelError('Invalid service account name');
  if (!isName(namespace as string, dns1123Label)) throw new CelError('Invalid service account namespace');
  return (authorizer as AuthorizerValue).for({
    name: `system:serviceaccount:${namespace as string}:${name as string}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace as string}`],
  });
}

function checkOfResource(value: Value, resource: Value): Value {
  const { authorizer, group } = value as GroupCheckValue;
  if ((resource as string).trim() === '') throw new CelError('resource must not be empty');
  return new ResourceCheckValue(authorizer, { group, resource: resource as string });
}

/** A function that sets a part of a check. */
const setterOf = (part: keyof ResourceCheck, id: string, costs?: Costs) =>
  methodOf(
    id,
    [resourceCheckType, stringType],
    resourceCheckType,
    (value, text) => {
      const { authorizer, check } = value as ResourceCheckValue;
      return new ResourceCheckValue(authorizer, { ...check, [part]: text as string });
    },
    costs,
  );

function checkPath(value: Value, verb: Value): Value {
  const { authorizer, path } = value as PathCheckValue;
  return authorizer.check({ verb: verb as string, resource: undefined, path, selectors: {} });
}

function checkResource(value: Value, verb: Value): Value {
  const { authorizer, check } = value as ResourceCheckValue;
  const { fieldSelector, labelSelector, ...place } = check;
  const selectors = receiveSelectors(labelSelector, fieldSelector);
  return authorizer.check({ verb: verb as string, resource: { ...place, version: '*' }, path: '', selectors });
}

const own = (value: Value): AccessDecision => (value as DecisionValue).decision;

/** At most two checks are within the limit of an expression. */
const checkCost = 350_000;
const checking: Costs = { cost: () => checkCost, estimate: () => ({ cost: fixed(checkCost) }) };

/** A selector is a list of requirements, each of which has at least two characters and is an object with a list. */
const listCost = 10;
const requirementCost = 40 + listCost;
const selectorCost = (size: { readonly min: number; readonly max: number }) =>
  sum(fixed(listCost), scale(size, stringFactor), scale(scale(size, 0.5), requirementCost));
const selecting: Costs = {
  cost: ([, text]) => selectorCost(fixed(codePoints(text as string))).max,
  estimate: (args) => ({ cost: selectorCost(sizeOf(args, 1)) }),
};

export const authorizerLibrary: Library = {
  name: `${expressionTypes}.authz`,
  functions: {
    path: [methodOf('authorizer_path', [authorizerType, stringType], pathCheckType, checkOfPath, readingLong)],
    group: [methodOf('authorizer_group', [authorizerType, stringType], groupCheckType, checkOfGroup)],
    serviceAccount: [
      methodOf('authorizer_serviceaccount', [authorizerType, stringType, stringType], authorizerType, serviceAccount),
    ],
    resource: [
      methodOf('groupcheck_resource', [groupCheckType, stringType], resourceCheckType, checkOfResource, readingLong),
    ],
    subresource: [setterOf('subresource', 'resourcecheck_subresource')],
    namespace: [setterOf('namespace', 'resourcecheck_namespace')],
    name: [setterOf('name', 'resourcecheck_name')],
    check: [
      methodOf('pathcheck_check', [pathCheckType, stringType], decisionType, checkPath, checking),
      methodOf('resourcecheck_check', [resourceCheckType, stringType], decisionType, checkResource, checking),
    ],
    allowed: [methodOf('decision_allowed', [decisionType], boolType, (value) => own(value).allowed)],
    reason: [methodOf('decision_reason', [decisionType], stringType, (value) => own(value).reason)],
    error: [methodOf('decision_error', [decisionType], stringType, (value) => own(value).error ?? '')],
    errored: [methodOf('decision_errored', [decisionType], boolType, (value) => own(value).error !== undefined)],
  },
};

/** The functions of checks with the feature gate `AuthorizeWithSelectors`. */
export const authorizerSelectorsLibrary: Library = {
  name: `${expressionTypes}.authzSelectors`,
  functions: {
    fieldSelector: [setterOf('fieldSelector', 'authorizer_fieldselector', selecting)],
    labelSelector: [setterOf('labelSelector', 'authorizer_labelselector', selecting)],
  },
};
