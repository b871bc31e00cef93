/** The identity providers of an authentication configuration. */
import type { Expression } from '../expressions.ts';
import { compileClaims, compileUser } from './claim-expressions.ts';
import type {
  AuthenticationConfiguration,
  ClaimOrExpression,
  JWTAuthenticator,
  PrefixedClaimOrExpression,
} from './configuration-kind.ts';
import type { OpenIdProvider } from './openid.ts';
import type { UserMapping } from './user-mapping.ts';

/** An identity provider, and how it is reached. */
export interface ConfiguredProvider extends OpenIdProvider {
  /** Where its discovery document is, when not below the issuer. */
  readonly discoveryUrl: string | undefined;
  /** In PEM; undefined: the certificate of the provider is verified by the authorities that Node trusts. */
  readonly certificateAuthority: string | undefined;
}

/** The providers of a configuration that has been checked, whose tokens are signed by one of the algorithms. */
export const configuredProviders = (
  { jwt = [] }: AuthenticationConfiguration,
  algorithms: readonly string[],
): ConfiguredProvider[] =>
  jwt.map((one) => {
    const { url = '', discoveryURL = '', certificateAuthority = '', audiences = [] } = one.issuer ?? {};
    return {
      issuer: url,
      audiences,
      algorithms,
      discoveryUrl: discoveryURL === '' ? undefined : discoveryURL,
      certificateAuthority: certificateAuthority === '' ? undefined : certificateAuthority,
      mapping: mappingOf(one),
    };
  });

function mappingOf({
  claimMappings,
  claimValidationRules = [],
  userValidationRules = [],
}: JWTAuthenticator): UserMapping {
  const { username = {}, groups, uid, extra = [] } = claimMappings ?? {};
  const required = claimValidationRules.filter(({ claim = '' }) => claim !== '');
  return {
    username: prefixedOf(username) ?? { claim: '', prefix: '' },
    groups: groups && prefixedOf(groups),
    uid: uid && uidOf(uid),
    extra: extra.map(({ key = '', valueExpression = '' }) => ({ key, expression: compiled(valueExpression) })),
    requiredClaims: new Map(required.map(({ claim = '', requiredValue = '' }) => [claim, requiredValue])),
    claimRules: claimValidationRules
      .filter(({ claim = '' }) => claim === '')
      .map(({ expression = '', message = '' }) => ({ expression: compiled(expression), message })),
    userRules: userValidationRules.map(({ expression = '', message = '' }) => ({
      expression: compiled(expression, compileUser),
      message,
    })),
  };
}

/** Undefined: the mapping has neither a claim nor an expression. */
function prefixedOf({ claim = '', prefix, expression = '' }: PrefixedClaimOrExpression): UserMapping['groups'] {
  if (expression !== '') return { expression: compiled(expression) };
  return claim === '' ? undefined : { claim, prefix: prefix ?? '' };
}

function uidOf({ claim = '', expression = '' }: ClaimOrExpression): UserMapping['uid'] {
  if (expression !== '') return { expression: compiled(expression) };
  return claim === '' ? undefined : { claim };
}

function compiled(source: string, compile: typeof compileClaims = compileClaims): Expression {
  const found = compile(source);
  if (typeof found === 'string') throw new Error(`the configuration has not been checked: ${found}`);
  return found.expression;
}
