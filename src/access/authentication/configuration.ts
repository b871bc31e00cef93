/** The rules about an authentication configuration: its issuers, and anonymous requests. */
import { type Features, type FieldError, fieldError, type Names } from '../../meta/index.ts';
import { findBundleError } from '../../pki/index.ts';
import type { AnonymousAuthConfig, AuthenticationConfiguration, Issuer } from './configuration-kind.ts';
import { checkMappings, checkUserRules } from './mapping-checks.ts';

/** The context of the rules of a configuration. */
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
  const usedUrls = { urls: new Set<string>(), discoveryUrls: new Set<string>() };
  return [
    ...(jwt.length > maxIssuers ? [fieldError.tooMany('jwt', jwt.length, maxIssuers)] : []),
    ...jwt.slice(0, maxIssuers).flatMap((one, i) => {
      const at = `jwt[${i}]`;
      return [
        ...checkIssuer(one.issuer ?? {}, `${at}.issuer`, serviceAccountIssuers),
        ...checkUnique(one.issuer ?? {}, `${at}.issuer`, usedUrls),
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
  if (discoveryURL !== '' && withoutSlashes(discoveryURL) === withoutSlashes(url)) {
    found.push(fieldError.invalid(`${at}.discoveryURL`, discoveryURL, 'discoveryURL must be different from URL'));
  }
  const discovery = discoveryURL === '' ? [] : checkUrl(discoveryURL, `${at}.discoveryURL`);
  return [...found, ...discovery, ...checkAudiences(issuer, at), ...checkAuthority(certificateAuthority, at)];
}

function checkAuthority(pem: string, at: string): FieldError[] {
  if (pem === '' || findBundleError(pem) === undefined) return [];
  const why = 'data does not contain any valid RSA or ECDSA certificates';
  return [fieldError.invalid(`${at}.certificateAuthority`, '<omitted>', why)];
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
    const conditionValues = conditions.map(({ path = '' }) => ({ Path: path }));
    const why = 'enabled should be set to true when conditions are defined';
    found.push(fieldError.invalid('anonymous.conditions', conditionValues, why));
  }
  return found;
}
