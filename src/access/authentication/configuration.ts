/** The file of `--authentication-config`: its fields, and the rules about issuers and anonymous requests. */
import { type Features, type FieldError, fieldError, type Names } from '../../meta/index.ts';
import { bundleFault } from '../../pki/index.ts';
import {
  bool,
  type ConfigurationFormat,
  field,
  type Infer,
  list,
  string,
  struct,
  versionedKinds,
} from '../../schema/index.ts';
import { checkMappings, checkUserRules } from './mapping-checks.ts';

/** Absent and empty are not the same. */
const pointer = { nullable: true } as const;

const Issuer = struct('apiserver/v1beta1.Issuer', {
  url: field(1, string),
  discoveryURL: field(2, string),
  certificateAuthority: field(3, string),
  audiences: field(4, list(string)),
  audienceMatchPolicy: field(5, string),
});
type Issuer = Infer<typeof Issuer>;

const ClaimValidationRule = struct('apiserver/v1beta1.ClaimValidationRule', {
  claim: field(1, string),
  requiredValue: field(2, string),
  expression: field(3, string),
  message: field(4, string),
});

const PrefixedClaimOrExpression = struct('apiserver/v1beta1.PrefixedClaimOrExpression', {
  claim: field(1, string),
  prefix: field(2, string, pointer),
  expression: field(3, string),
});
export type PrefixedClaimOrExpression = Infer<typeof PrefixedClaimOrExpression>;

const ClaimOrExpression = struct('apiserver/v1beta1.ClaimOrExpression', {
  claim: field(1, string),
  expression: field(2, string),
});
export type ClaimOrExpression = Infer<typeof ClaimOrExpression>;

const ClaimMappings = struct('apiserver/v1beta1.ClaimMappings', {
  username: field(1, PrefixedClaimOrExpression),
  groups: field(2, PrefixedClaimOrExpression),
  uid: field(3, ClaimOrExpression),
  extra: field(
    4,
    list(struct('apiserver/v1beta1.ExtraMapping', { key: field(1, string), valueExpression: field(2, string) })),
  ),
});

const JWTAuthenticator = struct('apiserver/v1beta1.JWTAuthenticator', {
  issuer: field(1, Issuer),
  claimValidationRules: field(2, list(ClaimValidationRule)),
  claimMappings: field(3, ClaimMappings),
  userValidationRules: field(
    4,
    list(struct('apiserver/v1beta1.UserValidationRule', { expression: field(1, string), message: field(2, string) })),
  ),
});
export type JWTAuthenticator = Infer<typeof JWTAuthenticator>;

const AnonymousAuthConfig = struct('apiserver/v1beta1.AnonymousAuthConfig', {
  enabled: field(1, bool),
  conditions: field(
    2,
    list(struct('apiserver/v1beta1.AnonymousAuthCondition', { path: field(1, string, { always: true }) })),
  ),
});
export type AnonymousAuthConfig = Infer<typeof AnonymousAuthConfig>;

const AuthenticationConfiguration = struct('apiserver/v1beta1.AuthenticationConfiguration', {
  apiVersion: field(1, string),
  kind: field(2, string),
  jwt: field(3, list(JWTAuthenticator)),
  anonymous: field(4, AnonymousAuthConfig, pointer),
});
export type AuthenticationConfiguration = Infer<typeof AuthenticationConfiguration>;

/** Its rules need what the server is like: {@link checkAuthentication}. */
export const authenticationFormat: ConfigurationFormat<AuthenticationConfiguration> = {
  kinds: versionedKinds('apiserver.config', 'AuthenticationConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
  schema: AuthenticationConfiguration,
};

/** What the rules of a configuration depend on. */
export interface AuthenticationRules {
  readonly names: Names;
  readonly features: Pick<Features, 'AnonymousAuthConfigurableEndpoints'>;
  /** The issuers of service account tokens: no identity provider may be one of them. */
  readonly serviceAccountIssuers: readonly string[];
}

const maxIssuers = 64;

/** Everything that is wrong with a configuration. */
export function checkAuthentication(
  { jwt = [], anonymous }: AuthenticationConfiguration,
  { names, features, serviceAccountIssuers }: AuthenticationRules,
): FieldError[] {
  const seen = { urls: new Set<string>(), discoveryUrls: new Set<string>() };
  return [
    ...(jwt.length > maxIssuers ? [fieldError.tooMany('jwt', jwt.length, maxIssuers)] : []),
    ...jwt.slice(0, maxIssuers).flatMap((one, i) => {
      const at = `jwt[${i}]`;
      return [
        ...checkIssuer(one.issuer ?? {}, `${at}.issuer`, serviceAccountIssuers),
        ...checkUnique(one.issuer ?? {}, `${at}.issuer`, seen),
        ...checkMappings(one, at, names),
        ...checkUserRules(one.userValidationRules ?? [], `${at}.userValidationRules`),
      ];
    }),
    ...(anonymous ? checkAnonymous(anonymous, features) : []),
  ];
}

function checkIssuer(issuer: Issuer, at: string, serviceAccountIssuers: readonly string[]): FieldError[] {
  const { url = '', discoveryURL = '', certificateAuthority = '' } = issuer;
  const found = url === '' ? [fieldError.required(`${at}.url`)] : checkUrl(url, `${at}.url`);
  if (serviceAccountIssuers.includes(url)) {
    const why = `URL must not overlap with disallowed issuers: [${serviceAccountIssuers.join(' ')}]`;
    found.push(fieldError.invalid(`${at}.url`, url, why));
  }
  if (discoveryURL !== '') {
    if (withoutSlashes(discoveryURL) === withoutSlashes(url)) {
      found.push(fieldError.invalid(`${at}.discoveryURL`, discoveryURL, 'discoveryURL must be different from URL'));
    }
    found.push(...checkUrl(discoveryURL, `${at}.discoveryURL`));
  }
  found.push(...checkAudiences(issuer, at));
  if (certificateAuthority !== '' && bundleFault(certificateAuthority) !== undefined) {
    const why = 'data does not contain any valid RSA or ECDSA certificates';
    found.push(fieldError.invalid(`${at}.certificateAuthority`, '<omitted>', why));
  }
  return found;
}

const withoutSlashes = (url: string): string => url.replace(/\/+$/, '');

function checkUrl(text: string, at: string): FieldError[] {
  const schemeless = !/^[a-z][a-z0-9+.-]*:/i.test(text);
  if (!schemeless && !URL.canParse(text)) return [fieldError.invalid(at, text, 'must be a URL')];
  const { protocol, username, password } = schemeless ? { protocol: '', username: '', password: '' } : new URL(text);
  return [
    ...(protocol === 'https:' ? [] : ['URL scheme must be https']),
    ...(username === '' && password === '' ? [] : ['URL must not contain a username or password']),
    ...(text.includes('?') ? ['URL must not contain a query'] : []),
    ...(text.includes('#') ? ['URL must not contain a fragment'] : []),
  ].map((why) => fieldError.invalid(at, text, why));
}

function checkAudiences({ audiences = [], audienceMatchPolicy = '' }: Issuer, at: string): FieldError[] {
  if (audiences.length === 0) {
    return [fieldError.required(`${at}.audiences`, `at least one ${at}.audiences is required`)];
  }
  const found = audiences.flatMap((audience, i) => {
    if (audience === '') return [fieldError.required(`${at}.audiences[${i}]`)];
    return audiences.indexOf(audience) < i ? [fieldError.duplicate(`${at}.audiences[${i}]`, audience)] : [];
  });
  if (audienceMatchPolicy === 'MatchAny' || (audiences.length === 1 && audienceMatchPolicy === '')) return found;
  const why =
    audiences.length === 1
      ? 'must be empty or MatchAny for single audience'
      : 'must be MatchAny for multiple audiences';
  return [...found, fieldError.invalid(`${at}.audienceMatchPolicy`, audienceMatchPolicy, `audienceMatchPolicy ${why}`)];
}

interface Seen {
  readonly urls: Set<string>;
  readonly discoveryUrls: Set<string>;
}

function checkUnique({ url = '', discoveryURL = '' }: Issuer, at: string, { urls, discoveryUrls }: Seen): FieldError[] {
  const found: FieldError[] = [];
  if (url !== '' && urls.has(url)) found.push(fieldError.duplicate(`${at}.url`, url));
  if (discoveryURL !== '' && discoveryUrls.has(discoveryURL)) {
    found.push(fieldError.duplicate(`${at}.discoveryURL`, discoveryURL));
  }
  urls.add(url);
  discoveryUrls.add(discoveryURL);
  return found;
}

function checkAnonymous(
  { enabled = false, conditions = [] }: AnonymousAuthConfig,
  { AnonymousAuthConfigurableEndpoints: isOn }: AuthenticationRules['features'],
): FieldError[] {
  const found: FieldError[] = [];
  if (!isOn) {
    const why = 'is not supported while the feature gate AnonymousAuthConfigurableEndpoints is off';
    found.push(fieldError.forbidden('anonymous', why));
  }
  if (!enabled && conditions.length > 0) {
    const shown = conditions.map(({ path = '' }) => ({ Path: path }));
    const why = 'enabled should be set to true when conditions are defined';
    found.push(fieldError.invalid('anonymous.conditions', shown, why));
  }
  return found;
}
