import { describe, expect, it } from 'vitest';
import { defaultFeatures, type Json, namesFor } from '../../meta/index.ts';
import { decodeConfiguration } from '../../schema/index.ts';
import { type AuthenticationRules, checkAuthentication } from './configuration.ts';
import { authenticationFormat } from './configuration-kind.ts';
import { configuredProviders } from './configured-providers.ts';

const account = 'https://kubernetes.default.svc.cluster.local';
const rules: AuthenticationRules = {
  names: namesFor('k8s.io'),
  features: defaultFeatures,
  serviceAccountIssuers: [account],
};
const header = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' };
const decode = (value: Json) => decodeConfiguration(authenticationFormat, value, rules.names);

/** The problems of a configuration, each with its field. */
function problems(fields: { readonly [field: string]: Json }, changes: Partial<AuthenticationRules> = {}) {
  const decoded = decode({ ...header, ...fields });
  if ('problems' in decoded) return decoded.problems;
  return checkAuthentication(decoded.value, { ...rules, ...changes }).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

type Fields = { readonly [field: string]: Json };
const username = { claim: 'sub', prefix: '' };
const issuer = (more: Fields = {}): Fields => ({ url: 'https://a.example.com', audiences: ['a'], ...more });
const jwt = (more: Fields = {}): Fields => ({ issuer: issuer(), claimMappings: { username }, ...more });
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => jwt({ issuer: issuer({ url: `https://a${i}.example.com` }) }));
const mapped = (mappings: Fields, more: Fields = {}) => [jwt({ claimMappings: { username, ...mappings }, ...more })];
const ruled = (...claimValidationRules: Json[]) => [jwt({ claimValidationRules })];
const checked = (...userValidationRules: Json[]) => [jwt({ userValidationRules })];
const extra = (...list: Json[]) => mapped({ extra: list });
const keyed = (key: string) => extra({ key, valueExpression: 'claims.a' });

describe('an AuthenticationConfiguration', () => {
  it.each(['v1', 'v1beta1', 'v1alpha1'])('of version %s configures providers with all fields', (version) => {
    const decoded = decode({
      ...header,
      apiVersion: `apiserver.config.k8s.io/${version}`,
      jwt: [
        {
          issuer: {
            url: 'https://a.example.com',
            discoveryURL: 'https://b.example.com/.well-known/openid-configuration',
            audiences: ['a', 'b'],
            audienceMatchPolicy: 'MatchAny',
          },
          claimValidationRules: [
            { claim: 'hd', requiredValue: 'example.com' },
            { expression: 'claims.exp > 0', message: 'no time' },
          ],
          claimMappings: {
            username: { expression: 'claims.sub' },
            groups: { claim: 'groups', prefix: 'g:' },
            uid: { claim: 'uid' },
            extra: [{ key: 'example.com/a', valueExpression: 'claims.a' }],
          },
          userValidationRules: [{ expression: "user.username != ''", message: 'no name' }],
        },
      ],
      anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '' }] },
    });
    if ('problems' in decoded) throw new Error(decoded.problems.join());
    expect(checkAuthentication(decoded.value, rules)).toEqual([]);
    expect(decoded.value.anonymous).toEqual({ enabled: true, conditions: [{ path: '/livez' }, { path: '' }] });
    const source = (text: string) => expect.objectContaining({ source: text });
    expect(configuredProviders(decoded.value, ['RS256'])).toEqual([
      {
        issuer: 'https://a.example.com',
        discoveryUrl: 'https://b.example.com/.well-known/openid-configuration',
        certificateAuthority: undefined,
        audiences: ['a', 'b'],
        algorithms: ['RS256'],
        mapping: {
          username: { expression: source('claims.sub') },
          groups: { claim: 'groups', prefix: 'g:' },
          uid: { claim: 'uid' },
          extra: [{ key: 'example.com/a', expression: source('claims.a') }],
          requiredClaims: new Map([['hd', 'example.com']]),
          claimRules: [{ expression: source('claims.exp > 0'), message: 'no time' }],
          userRules: [{ expression: source("user.username != ''"), message: 'no name' }],
        },
      },
    ]);
  });

  it.each<[string, Fields]>([
    ['nothing', {}],
    ['64 issuers', { jwt: many(64) }],
    ['issuers that differ by a slash', { jwt: [jwt(), jwt({ issuer: issuer({ url: 'https://a.example.com/' }) })] }],
    ['a match policy for one audience', { jwt: [jwt({ issuer: issuer({ audienceMatchPolicy: 'MatchAny' }) })] }],
    ['a required claim that must be empty', { jwt: ruled({ claim: 'a' }) }],
    ['iteration over what is converted', { jwt: ruled({ expression: "dyn(claims.roles).exists(r, r == 'a')" }) }],
    ['a username of another type, which fails in use', { jwt: mapped({ username: { expression: 'true' } }) }],
    ['an address by its index', { jwt: mapped({ username: { expression: "claims['email']" } }) }],
    [
      'an address and its verification in one expression',
      { jwt: mapped({ username: { expression: "claims.email_verified ? claims.email : 'x'" } }) },
    ],
    [
      'an address whose verification a rule checks',
      {
        jwt: mapped(
          { username: { expression: 'claims.email' } },
          { claimValidationRules: [{ expression: 'claims.?email_verified.orValue(true) == true' }] },
        ),
      },
    ],
    [
      'an address whose verification is extra data',
      {
        jwt: mapped({
          username: { expression: 'claims.email' },
          extra: [{ key: 'example.com/v', valueExpression: 'string(claims.email_verified)' }],
        }),
      },
    ],
    ['a prefix of groups alone', { jwt: mapped({ groups: { prefix: 'x' } }) }],
    ['groups by a text in parts', { jwt: mapped({ groups: { expression: "claims.roles.split(',')" } }) }],
    ['a key near a reserved domain', { jwt: keyed('notkubernetes.io/a') }],
    [
      'the fields of users',
      { jwt: checked({ expression: "user.uid != '' && user.groups.size() > 0 && 'a' in user.extra" }) },
    ],
    ['anonymous requests refused', { anonymous: { enabled: false } }],
  ])('may have %s', (_, fields) => {
    expect(problems(fields)).toEqual([]);
  });

  const unverified =
    'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression';
  const url = (text: string) => [jwt({ issuer: issuer({ url: text }) })];
  const discovery = (discoveryURL: string) => [jwt({ issuer: issuer({ discoveryURL }) })];

  it.each<[string, Json, string[]]>([
    ['65 issuers', many(65), ['jwt: Too many: 65: must have at most 64 items']],
    [
      'an empty issuer',
      [{}],
      [
        'jwt[0].issuer.url: Required value',
        'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required',
        'jwt[0].claimMappings.username: Required value: claim or expression is required',
      ],
    ],
    ['an issuer twice', [jwt(), jwt()], ['jwt[1].issuer.url: Duplicate value: "https://a.example.com"']],
    [
      'the issuer of service accounts',
      url(account),
      [`jwt[0].issuer.url: Invalid value: "${account}": URL must not overlap with disallowed issuers: [${account}]`],
    ],
    [
      'a URL without https, with user, query and fragment',
      url('http://u:p@a.example.com?x#y'),
      [
        'scheme must be https',
        'must not contain a username or password',
        'must not contain a query',
        'must not contain a fragment',
      ].map((why) => `jwt[0].issuer.url: Invalid value: "http://u:p@a.example.com?x#y": URL ${why}`),
    ],
    [
      'a URL without a scheme',
      url('a.example.com'),
      ['jwt[0].issuer.url: Invalid value: "a.example.com": URL scheme must be https'],
    ],
    ['what is not a URL', url('https://a:x'), ['jwt[0].issuer.url: Invalid value: "https://a:x": must be a URL']],
    [
      'discovery at the issuer',
      discovery('https://a.example.com/'),
      ['jwt[0].issuer.discoveryURL: Invalid value: "https://a.example.com/": discoveryURL must be different from URL'],
    ],
    [
      'discovery without https',
      discovery('http://b.example.com'),
      ['jwt[0].issuer.discoveryURL: Invalid value: "http://b.example.com": URL scheme must be https'],
    ],
    [
      'discovery twice',
      ['a', 'c'].map((name) =>
        jwt({ issuer: issuer({ url: `https://${name}.example.com`, discoveryURL: 'https://b.example.com' }) }),
      ),
      ['jwt[1].issuer.discoveryURL: Duplicate value: "https://b.example.com"'],
    ],
    [
      'an authority that is not a certificate',
      [jwt({ issuer: issuer({ certificateAuthority: 'x' }) })],
      [
        'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates',
      ],
    ],
    [
      'an empty audience',
      [jwt({ issuer: issuer({ audiences: [''] }) })],
      ['jwt[0].issuer.audiences[0]: Required value'],
    ],
    [
      'an audience twice',
      [jwt({ issuer: issuer({ audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' }) })],
      ['jwt[0].issuer.audiences[1]: Duplicate value: "a"'],
    ],
    [
      'two audiences without a match policy',
      [jwt({ issuer: issuer({ audiences: ['a', 'b'] }) })],
      [
        'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
      ],
    ],
    [
      'an unknown match policy',
      [jwt({ issuer: issuer({ audienceMatchPolicy: 'MatchAll' }) })],
      [
        'jwt[0].issuer.audienceMatchPolicy: Invalid value: "MatchAll": audienceMatchPolicy must be empty or MatchAny for single audience',
      ],
    ],
    [
      'a rule with claim and expression',
      ruled({ claim: 'a', expression: 'true' }),
      [`jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can't both be set`],
    ],
    [
      'a rule with neither',
      ruled({ message: 'm' }),
      ['jwt[0].claimValidationRules[0]: Required value: claim or expression is required'],
    ],
    [
      'a message of a claim',
      ruled({ claim: 'a', message: 'm' }),
      ['jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set'],
    ],
    [
      'a required claim twice',
      ruled({ claim: 'a' }, { claim: 'a' }),
      ['jwt[0].claimValidationRules[1].claim: Duplicate value: "a"'],
    ],
    [
      'a value with an expression',
      ruled({ expression: 'true', requiredValue: 'x' }),
      ['jwt[0].claimValidationRules[0].requiredValue: Invalid value: "x": may not be specified when expression is set'],
    ],
    [
      'a rule twice',
      ruled({ expression: 'true' }, { expression: 'true' }),
      ['jwt[0].claimValidationRules[1].expression: Duplicate value: "true"'],
    ],
    [
      'a rule of another type',
      ruled({ expression: 'claims.a' }),
      ['jwt[0].claimValidationRules[0].expression: Invalid value: "claims.a": must evaluate to bool'],
    ],
    [
      'a rule about the user',
      ruled({ expression: "user.username == 'x'" }),
      [
        `jwt[0].claimValidationRules[0].expression: Invalid value: "user.username == 'x'": compilation failed: ERROR: <input>:1:1: undeclared reference to 'user' (in container '')\n | user.username == 'x'\n | ^`,
      ],
    ],
    [
      'iteration over any',
      ruled({ expression: "claims.roles.exists(r, r == 'a')" }),
      [
        `jwt[0].claimValidationRules[0].expression: Invalid value: "claims.roles.exists(r, r == 'a')": compilation failed: ERROR: <input>:1:7: expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)\n | claims.roles.exists(r, r == 'a')\n | ......^`,
      ],
    ],
    [
      'a constant that cannot be converted',
      ruled({ expression: "int('x') == 1" }),
      [expect.stringContaining('program instantiation failed') as unknown as string],
    ],
    [
      'a username without a prefix',
      mapped({ username: { claim: 'sub' } }),
      [
        'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
      ],
    ],
    [
      'a username with claim and expression',
      mapped({ username: { claim: 'a', expression: 'claims.a' } }),
      [`jwt[0].claimMappings.username: Invalid value: "": claim and expression can't both be set`],
    ],
    [
      'an empty prefix with an expression',
      mapped({ username: { expression: 'claims.sub', prefix: '' } }),
      ['jwt[0].claimMappings.username.prefix: Invalid value: "": may not be specified when expression is set'],
    ],
    [
      'an address that nothing verifies',
      mapped({ username: { expression: 'claims.?email.orValue("x")' } }),
      [`jwt[0].claimMappings.username.expression: Invalid value: "claims.?email.orValue(\\"x\\")": ${unverified}`],
    ],
    [
      'an address that only groups verify',
      mapped({ username: { expression: 'claims.email' }, groups: { expression: "claims.email_verified ? 'a' : 'b'" } }),
      [`jwt[0].claimMappings.username.expression: Invalid value: "claims.email": ${unverified}`],
    ],
    [
      'an address that a variable of the same name verifies',
      mapped({ username: { expression: '[claims].all(claims, claims.email_verified) ? claims.email : "x"' } }),
      [expect.stringContaining(unverified) as unknown as string],
    ],
    [
      'groups without a prefix',
      mapped({ groups: { claim: 'g' } }),
      [
        'jwt[0].claimMappings.groups.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
      ],
    ],
    [
      'a uid with claim and expression',
      mapped({ uid: { claim: 'a', expression: 'claims.a' } }),
      [`jwt[0].claimMappings.uid: Invalid value: "": claim and expression can't both be set`],
    ],
    [
      'a prefix of the uid',
      mapped({ uid: { claim: 'a', prefix: 'x' } }),
      ['unknown field "jwt[0].claimMappings.uid.prefix"'],
    ],
    [
      'extra data without key and expression',
      extra({}),
      [
        'jwt[0].claimMappings.extra[0].key: Required value',
        'jwt[0].claimMappings.extra[0].valueExpression: Required value',
      ],
    ],
    [
      'a key without a path',
      keyed('example.com/'),
      [
        'jwt[0].claimMappings.extra[0].key: Invalid value: "example.com/": must be a domain-prefixed path (such as "acme.io/foo")',
      ],
    ],
    [
      'a key in capitals',
      keyed('example.com/Foo'),
      ['jwt[0].claimMappings.extra[0].key: Invalid value: "example.com/Foo": must be lowercase'],
    ],
    [
      'a key with a blank',
      keyed('example.com/f oo'),
      [
        `jwt[0].claimMappings.extra[0].key: Invalid value: "f oo": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
      ],
    ],
    ...['k8s.io/a', 'x.k8s.io/a', 'kubernetes.io/a', 'x.kubernetes.io/a'].map((key): [string, Json, string[]] => [
      `the reserved key ${key}`,
      keyed(key),
      [
        `jwt[0].claimMappings.extra[0].key: Invalid value: "${key}": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use`,
      ],
    ]),
    [
      'a key twice',
      extra(
        { key: 'example.com/a', valueExpression: 'claims.a' },
        { key: 'example.com/a', valueExpression: 'claims.b' },
      ),
      ['jwt[0].claimMappings.extra[1].key: Duplicate value: "example.com/a"'],
    ],
    [
      'a user rule without an expression',
      checked({ message: 'm' }),
      ['jwt[0].userValidationRules[0].expression: Required value'],
    ],
    [
      'a user rule twice',
      checked({ expression: 'true' }, { expression: 'true' }),
      ['jwt[0].userValidationRules[1].expression: Duplicate value: "true"'],
    ],
    [
      'a user rule of another type',
      checked({ expression: 'user.username' }),
      ['jwt[0].userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool'],
    ],
    [
      'a field that users do not have',
      checked({ expression: "user.email != 'a'" }),
      [
        `jwt[0].userValidationRules[0].expression: Invalid value: "user.email != 'a'": compilation failed: ERROR: <input>:1:5: undefined field 'email'\n | user.email != 'a'\n | ....^`,
      ],
    ],
    ['an unknown field', [jwt({ issuer: issuer({ claim: 'x' }) })], ['unknown field "jwt[0].issuer.claim"']],
  ])('is refused with %s', (_, list, expected) => {
    expect(problems({ jwt: list })).toEqual(expected);
  });

  it('is refused with conditions of anonymous requests that are refused', () => {
    expect(problems({ anonymous: { conditions: [{ path: '/livez' }] } })).toEqual([
      'anonymous.conditions: Invalid value: [{"Path":"/livez"}]: enabled should be set to true when conditions are defined',
    ]);
  });

  it('is refused with the field anonymous while its feature gate is off', () => {
    const features = { AnonymousAuthConfigurableEndpoints: false };
    expect(problems({ anonymous: { enabled: true } }, { features })).toEqual([
      'anonymous: Forbidden: is not supported while the feature gate AnonymousAuthConfigurableEndpoints is off',
    ]);
  });

  it('of another domain reserves that domain', () => {
    const names = namesFor('orch.io');
    const decoded = decodeConfiguration(
      authenticationFormat,
      { ...header, apiVersion: 'apiserver.config.orch.io/v1', jwt: keyed('a.orch.io/b') },
      names,
    );
    if ('problems' in decoded) throw new Error(decoded.problems.join());
    expect(checkAuthentication(decoded.value, { ...rules, names }).map(({ message }) => message)).toEqual([
      'Invalid value: "a.orch.io/b": orch.io and its subdomains are reserved for Orch use',
    ]);
  });
});
