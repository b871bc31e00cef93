/** The rules about claim mappings and validation rules of an authentication configuration. */
import { boolType, type CheckedExpression, readsField } from '../../cel/index.ts';
import { domainPath, type FieldError, fieldError, type Names } from '../../meta/index.ts';
import { compileClaims, compileUser } from './claim-expressions.ts';
import type { ClaimOrExpression, JWTAuthenticator, PrefixedClaimOrExpression } from './configuration-kind.ts';

type Mappings = NonNullable<JWTAuthenticator['claimMappings']>;
type ClaimRule = NonNullable<JWTAuthenticator['claimValidationRules']>[number];
type UserRule = NonNullable<JWTAuthenticator['userValidationRules']>[number];

const eitherIsRequired = 'claim or expression is required';
const notBoth = "claim and expression can't both be set";
const notWithExpression = 'may not be specified when expression is set';

/** The errors of the claim validation rules and the claim mappings of an issuer. */
export function checkMappings(
  { claimValidationRules = [], claimMappings }: JWTAuthenticator,
  at: string,
  names: Names,
) {
  const { username = {}, groups = {}, uid = {}, extra = [] } = claimMappings ?? {};
  const found: FieldError[] = [];
  const mappings = `${at}.claimMappings`;
  const rules = checkClaimRules(claimValidationRules, `${at}.claimValidationRules`, found);
  const name = checkPrefixed(username, `${mappings}.username`, found);
  if ((username.claim ?? '') === '' && (username.expression ?? '') === '') {
    found.push(fieldError.required(`${mappings}.username`, eitherIsRequired));
  }
  checkPrefixed(groups, `${mappings}.groups`, found);
  checkUid(uid, `${mappings}.uid`, found);
  const values = checkExtra(extra, `${mappings}.extra`, names, found);
  if (name !== undefined && usesUnverifiedAddress(name, [...values, ...rules])) {
    const used =
      'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression';
    const why = `${used} when claims.email is used in claimMappings.username.expression`;
    found.push(fieldError.invalid(`${mappings}.username.expression`, name.source, why));
  }
  return found;
}

const usesUnverifiedAddress = (username: CheckedExpression, others: readonly CheckedExpression[]): boolean =>
  readsField(username, 'claims', 'email') &&
  ![username, ...others].some((one) => readsField(one, 'claims', 'email_verified'));

/** The checked expression; undefined, with an error, for one that is not valid. */
function checkExpression(
  source: string,
  at: string,
  found: FieldError[],
  compile: typeof compileClaims = compileClaims,
): CheckedExpression | undefined {
  const compiled = compile(source);
  if (typeof compiled !== 'string') return compiled.checked;
  found.push(fieldError.invalid(at, source, compiled));
  return undefined;
}

function checkCondition(source: string, at: string, found: FieldError[], compile?: typeof compileClaims) {
  const checked = checkExpression(source, at, found, compile);
  if (checked !== undefined && checked.type.kind !== boolType.kind) {
    found.push(fieldError.invalid(at, source, `must evaluate to ${boolType.kind}`));
  }
  return checked;
}

function checkClaimRules(rules: readonly ClaimRule[], list: string, found: FieldError[]): CheckedExpression[] {
  const seen = { claims: new Set<string>(), expressions: new Set<string>() };
  return rules.flatMap(({ claim = '', requiredValue = '', expression = '', message = '' }, i) => {
    const at = `${list}[${i}]`;
    if (claim !== '' && expression !== '') {
      found.push(fieldError.invalid(at, claim, notBoth));
      return [];
    }
    if (claim === '' && expression === '') {
      found.push(fieldError.required(at, eitherIsRequired));
      return [];
    }
    if (claim !== '') {
      if (message !== '') {
        found.push(fieldError.invalid(`${at}.message`, message, 'may not be specified when claim is set'));
      }
      if (seen.claims.has(claim)) found.push(fieldError.duplicate(`${at}.claim`, claim));
      seen.claims.add(claim);
      return [];
    }
    if (requiredValue !== '') {
      found.push(fieldError.invalid(`${at}.requiredValue`, requiredValue, notWithExpression));
    }
    if (seen.expressions.has(expression)) {
      found.push(fieldError.duplicate(`${at}.expression`, expression));
      return [];
    }
    seen.expressions.add(expression);
    return checkCondition(expression, `${at}.expression`, found) ?? [];
  });
}

/** The checked expression of a mapping that has a valid one. */
function checkPrefixed(
  { claim = '', prefix, expression = '' }: PrefixedClaimOrExpression,
  at: string,
  found: FieldError[],
): CheckedExpression | undefined {
  if (claim !== '' && expression !== '') {
    found.push(fieldError.invalid(at, '', notBoth));
    return undefined;
  }
  if (expression !== '') {
    if (typeof prefix === 'string') found.push(fieldError.invalid(`${at}.prefix`, prefix, notWithExpression));
    return checkExpression(expression, `${at}.expression`, found);
  }
  if (claim !== '' && typeof prefix !== 'string') {
    const why = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing';
    found.push(fieldError.required(`${at}.prefix`, why));
  }
  return undefined;
}

function checkUid({ claim = '', expression = '' }: ClaimOrExpression, at: string, found: FieldError[]): void {
  if (claim !== '' && expression !== '') found.push(fieldError.invalid(at, '', notBoth));
  else if (expression !== '') checkExpression(expression, `${at}.expression`, found);
}

/** The checked expressions of the values. */
function checkExtra(
  extra: NonNullable<Mappings['extra']>,
  list: string,
  names: Names,
  found: FieldError[],
): CheckedExpression[] {
  const seen = new Set<string>();
  return extra.flatMap(({ key = '', valueExpression = '' }, i) => {
    const at = `${list}[${i}]`;
    for (const error of checkKey(key, `${at}.key`, names)) found.push(error);
    if (key !== '' && seen.has(key)) found.push(fieldError.duplicate(`${at}.key`, key));
    seen.add(key);
    if (valueExpression === '') {
      found.push(fieldError.required(`${at}.valueExpression`));
      return [];
    }
    return checkExpression(valueExpression, `${at}.valueExpression`, found) ?? [];
  });
}

function checkKey(key: string, at: string, { domain, labels, product }: Names): FieldError[] {
  const found = domainPath(at, key);
  const reserved = [...new Set([domain, labels])];
  const host = key.slice(0, Math.max(key.indexOf('/'), 0));
  if (reserved.some((one) => host === one || host.endsWith(`.${one}`))) {
    const owner = product.charAt(0).toUpperCase() + product.slice(1);
    const subdomains = reserved.length === 1 ? 'its subdomains' : 'their subdomains';
    const why = `${reserved.join(', ')} and ${subdomains} are reserved for ${owner} use`;
    found.push(fieldError.invalid(at, key, why));
  }
  if (key !== key.toLowerCase()) found.push(fieldError.invalid(at, key, 'must be lowercase'));
  return found;
}

/** The errors of the user validation rules of an issuer. */
export function checkUserRules(rules: readonly UserRule[], list: string): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { expression = '' }] of rules.entries()) {
    const at = `${list}[${i}].expression`;
    if (expression === '') found.push(fieldError.required(at));
    else if (seen.has(expression)) found.push(fieldError.duplicate(at, expression));
    else checkCondition(expression, at, found, compileUser);
    seen.add(expression);
  }
  return found;
}
