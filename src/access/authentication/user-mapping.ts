/** Who the claims of a token stand for. */
import { invalidToken } from '../../auth/index.ts';
import { Budget, CelError, CostLimitError, ListValue, type Value } from '../../cel/index.ts';
import { type Json, type JsonObject, type Names, quote, type Steps, type User } from '../../meta/index.ts';
import { type Expression, evaluateInSteps, maxCost, maxTotalCost } from '../expressions.ts';
import { claimsValue, userValue } from './claim-expressions.ts';

interface PrefixedClaim {
  readonly claim: string;
  readonly prefix: string;
}

interface ByExpression {
  readonly expression: Expression;
}

interface Rule extends ByExpression {
  /** Told when the expression is false; may be empty. */
  readonly message: string;
}

/** How claims become a user, and which claims and users are refused. */
export interface UserMapping {
  readonly username: PrefixedClaim | ByExpression;
  /** Undefined: the user is in no group. */
  readonly groups: PrefixedClaim | ByExpression | undefined;
  /** Undefined: the user has no uid. */
  readonly uid: { readonly claim: string } | ByExpression | undefined;
  readonly extra: readonly { readonly key: string; readonly expression: Expression }[];
  /** The values that claims must have. */
  readonly requiredClaims: ReadonlyMap<string, string>;
  readonly claimRules: readonly Rule[];
  readonly userRules: readonly Rule[];
}

/** The most text that expressions may make of the claims of a token (characters, and 16 for each text). */
const maxUserText = 256 * 1024;

export const refused = (why: string) => invalidToken(`oidc: ${why}`);

/**
 * The user of verified claims: maps the username, the groups, the uid and the extra data, in this order, and then checks
 * the claims and the user. `groupClaims` has the claim of the groups where a source other than the token has it; expressions
 * do not see it. @throws StatusError 401 that says what is wrong
 */
export function* userInSteps(
  claims: JsonObject,
  mapping: UserMapping,
  names: Names,
  groupClaims: JsonObject = claims,
): Steps<User> {
  const total = new Budget(maxTotalCost);
  const evaluate = evaluation(claimsValue(claims), total);
  const name = yield* usernameOf(claims, mapping.username, evaluate);
  const groups = yield* groupsOf(groupClaims, mapping.groups, evaluate);
  const uid = yield* uidOf(claims, mapping.uid, evaluate);
  const extra = yield* extraOf(claims, mapping.extra, names, evaluate);
  const user: User = {
    name,
    groups,
    ...(uid === '' ? {} : { uid }),
    ...(extra === undefined ? {} : { extra }),
  };
  if (textIn(user) > maxUserText) throw refused(`the user has more than ${maxUserText} characters`);
  checkRequired(claims, mapping.requiredClaims);
  yield* checkRules(mapping.claimRules, evaluate, 'error evaluating claim validation expression');
  if (mapping.userRules.length > 0) {
    yield* checkRules(
      mapping.userRules,
      evaluation(userValue(user), total),
      'error evaluating user info validation rule',
    );
  }
  return user;
}

/** Evaluates an expression. @throws StatusError 401 whose message begins with `what` */
type Evaluate = (expression: Expression, what: string) => Steps<Value>;

/** Evaluates expressions over a variable, for what is left of a cost. */
const evaluation = (variable: Value, total: Budget): Evaluate =>
  function* (expression, what) {
    const limit = Math.min(maxCost, Math.max(total.remaining, 0));
    const budget = new Budget(limit);
    try {
      return yield* evaluateInSteps(expression, variable, budget);
    } catch (thrown) {
      if (!(thrown instanceof CelError || thrown instanceof CostLimitError)) throw thrown;
      throw invalidToken(`${what}expression '${expression.source}' resulted in error: ${thrown.message}`);
    } finally {
      total.remaining -= limit - budget.remaining;
    }
  };

const claimOf = (claims: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(claims, name) ? claims[name] : undefined;

function* usernameOf(claims: JsonObject, mapping: UserMapping['username'], evaluate: Evaluate): Steps<string> {
  if ('claim' in mapping) return usernameByClaim(claims, mapping);
  const what = 'error evaluating username claim expression';
  const value = yield* evaluate(mapping.expression, `oidc: ${what}: `);
  if (typeof value !== 'string') throw refused(`${what}: username claim expression must return a string`);
  if (value === '') throw refused('empty username via CEL expression is not allowed');
  return value;
}

function usernameByClaim(claims: JsonObject, { claim, prefix }: PrefixedClaim): string {
  const value = claimOf(claims, claim);
  const parse = `parse username claims ${quote(claim)}`;
  if (value === undefined) throw refused(`${parse}: claim not present`);
  if (typeof value !== 'string') throw refused(`${parse}: ${mismatch(value)}`);
  if (claim === 'email') {
    const verified = claimOf(claims, 'email_verified') ?? true;
    if (typeof verified !== 'boolean') throw refused(`parse 'email_verified' claim: ${mismatch(verified)}`);
    if (!verified) throw refused('email not verified');
  }
  return prefix + value;
}

function* groupsOf(claims: JsonObject, mapping: UserMapping['groups'], evaluate: Evaluate): Steps<string[]> {
  if (mapping === undefined) return [];
  if ('claim' in mapping) return groupsByClaim(claims, mapping);
  const what = 'error evaluating group claim expression: ';
  const value = yield* evaluate(mapping.expression, `oidc: ${what}`);
  return textsOf(value, what);
}

function groupsByClaim(claims: JsonObject, { claim, prefix }: PrefixedClaim): string[] {
  const value = claimOf(claims, claim) ?? [];
  const groups = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(groups)) throw refused(`parse groups claim ${quote(claim)}: ${mismatch(groups)}`);
  return groups.map((group) => {
    if (typeof group !== 'string') throw refused(`parse groups claim ${quote(claim)}: ${mismatch(group)}`);
    return prefix + group;
  });
}

/** The texts of a text or of a list of texts, without empty ones; none for null. */
function textsOf(value: Value, what: string): string[] {
  if (value === null || value === '') return [];
  if (typeof value === 'string') return [value];
  const wrong = () => refused(`${what}expression must return a string or a list of strings`);
  if (!(value instanceof ListValue)) throw wrong();
  const texts: string[] = [];
  for (let i = 0; i < value.size; i++) {
    const text = value.get(i);
    if (typeof text !== 'string') throw wrong();
    if (text !== '') texts.push(text);
  }
  return texts;
}

/** Empty: the user has no uid. */
function* uidOf(claims: JsonObject, mapping: UserMapping['uid'], evaluate: Evaluate): Steps<string> {
  if (mapping === undefined) return '';
  if ('claim' in mapping) {
    const value = claimOf(claims, mapping.claim);
    const parse = `parse uid claim ${quote(mapping.claim)}`;
    if (value === undefined) throw refused(`${parse}: claim not present`);
    if (typeof value !== 'string') throw refused(`${parse}: ${mismatch(value)}`);
    return value;
  }
  const what = 'error evaluating uid claim expression: ';
  const value = yield* evaluate(mapping.expression, `oidc: ${what}`);
  if (typeof value !== 'string') throw refused(`${what}uid claim expression must return a string`);
  return value;
}

/** The id of the token, and what expressions make of its claims; undefined: nothing. */
function* extraOf(
  claims: JsonObject,
  mappings: UserMapping['extra'],
  { labels }: Names,
  evaluate: Evaluate,
): Steps<User['extra']> {
  const entries: [key: string, values: string[]][] = [];
  const id = claimOf(claims, 'jti');
  if (typeof id === 'string' && id !== '') entries.push([`authentication.${labels}/credential-id`, [`JTI=${id}`]]);
  for (const { key, expression } of mappings) {
    // The reference server names the mapping in errors of the type only.
    const value = yield* evaluate(expression, '');
    const texts = textsOf(value, `error evaluating extra claim expression: ${expression.source}: `);
    if (texts.length > 0) entries.push([key, texts]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function textIn({ name, uid = '', groups, extra = {} }: User): number {
  let sum = name.length + uid.length;
  for (const text of [...groups, ...Object.values(extra).flat()]) sum += text.length + 16;
  return sum;
}

function checkRequired(claims: JsonObject, required: UserMapping['requiredClaims']): void {
  for (const [claim, expected] of required) {
    const value = claimOf(claims, claim);
    if (value === undefined) throw refused(`required claim ${claim} not present in ID token`);
    if (typeof value !== 'string') throw refused(`parse claim ${claim}: ${mismatch(value)}`);
    if (value !== expected) {
      throw refused(`required claim ${claim} value does not match. Got = ${value}, want = ${expected}`);
    }
  }
}

/** The first rule that does not hold refuses the token. */
function* checkRules(rules: readonly Rule[], evaluate: Evaluate, what: string): Steps<void> {
  for (const { expression, message } of rules) {
    const holds = yield* evaluate(expression, `oidc: ${what}: `);
    if (holds !== true) throw refused(`${what}: validation expression '${expression.source}' failed: ${message}`);
  }
}

/** Why JSON is not the text or the list of texts that it should be. */
export const mismatch = (value: Json): string =>
  `json: cannot unmarshal ${Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value} into a value of type string`;
