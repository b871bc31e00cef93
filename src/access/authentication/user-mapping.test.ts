import { describe, expect, it } from 'vitest';
import { atOnce, type JsonObject, namesFor, type User } from '../../meta/index.ts';
import { compileClaims, compileUser } from './claim-expressions.ts';
import { type UserMapping, userInSteps } from './user-mapping.ts';

const claimsExpression = (source: string) => {
  const compiled = compileClaims(source);
  if (typeof compiled === 'string') throw new Error(compiled);
  return compiled.expression;
};
const by = (source: string) => ({ expression: claimsExpression(source) });
const rule = (source: string, message = '') => ({ ...by(source), message });
const userRule = (source: string, message = '') => {
  const compiled = compileUser(source);
  if (typeof compiled === 'string') throw new Error(compiled);
  return { expression: compiled.expression, message };
};
const extra = (key: string, source: string) => ({ key, ...by(source) });

const plain: UserMapping = {
  username: { claim: 'sub', prefix: '' },
  groups: undefined,
  uid: undefined,
  extra: [],
  requiredClaims: new Map(),
  claimRules: [],
  userRules: [],
};
const map = (claims: JsonObject | string, changes: Partial<UserMapping> = {}): User =>
  atOnce(
    userInSteps(
      typeof claims === 'string' ? (JSON.parse(claims) as JsonObject) : claims,
      { ...plain, ...changes },
      namesFor('k8s.io'),
    ),
  );
const jane: JsonObject = { sub: 'jane' };

// The users that the reference server derives from the same claims, recorded in the scenarios of identity providers.
describe('an expression', () => {
  it.each<[string, JsonObject, Partial<UserMapping>, Partial<User>]>([
    ['the username', jane, { username: by("claims.sub + ':external'") }, { name: 'jane:external' }],
    ['a username of blanks', { sub: ' ' }, { username: by('claims.sub') }, { name: ' ' }],
    ['groups by a list', { g: ['a', '', 'b'], ...jane }, { groups: by('claims.g') }, { groups: ['a', 'b'] }],
    ['one group by a text', { g: 'a', ...jane }, { groups: by('claims.g') }, { groups: ['a'] }],
    ['no group by an empty text', { g: '', ...jane }, { groups: by('claims.g') }, { groups: [] }],
    ['no group by null', { g: null, ...jane }, { groups: by('claims.g') }, { groups: [] }],
    [
      'groups by a macro over what is any',
      { roles: ['user', 'hidden'], ...jane },
      { groups: by("dyn(claims.roles).filter(r, r != 'hidden').map(r, 'ext:' + r)") },
      { groups: ['ext:user'] },
    ],
    // The specification stands above the reference server, which refuses every such token.
    ['groups by a text in parts', { r: 'a,b', ...jane }, { groups: by("claims.r.split(',')") }, { groups: ['a', 'b'] }],
    ['the uid', { id: 'u', ...jane }, { uid: by('claims.id') }, { uid: 'u' }],
    ['extra data', { t: ['x', ''], ...jane }, { extra: [extra('e.io/t', 'claims.t')] }, { extra: { 'e.io/t': ['x'] } }],
    ['whole numbers as int', { n: 3, ...jane }, { claimRules: [rule('type(claims.n) == int')] }, { name: 'jane' }],
    ['fractions as double', { n: 1.5, ...jane }, { claimRules: [rule('claims.n == 1.5')] }, { name: 'jane' }],
    ['nested claims', { o: { u: 'x' }, ...jane }, { username: by('claims.o.u') }, { name: 'x' }],
  ])('gives %s', (_, claims, mapping, user) => {
    expect(map(claims, mapping)).toMatchObject(user);
  });

  it.each<[string, JsonObject, Partial<UserMapping>]>([
    ['uid', { id: '', ...jane }, { uid: by('claims.id') }],
    ['extra data by an empty text', { t: '', ...jane }, { extra: [extra('e.io/t', 'claims.t')] }],
    ['extra data by an empty list', { t: [], ...jane }, { extra: [extra('e.io/t', 'claims.t')] }],
    ['extra data by null', { t: null, ...jane }, { extra: [extra('e.io/t', 'claims.t')] }],
  ])('may give no %s', (_, claims, mapping) => {
    expect(map(claims, mapping)).toEqual({ name: 'jane', groups: [] });
  });

  it.each<[string, JsonObject, Partial<UserMapping>, string]>([
    [
      'an absent claim as username',
      {},
      { username: by('claims.sub') },
      "oidc: error evaluating username claim expression: expression 'claims.sub' resulted in error: no such key: sub",
    ],
    [
      'a username of another type',
      { sub: ['jane'] },
      { username: by('claims.sub') },
      'oidc: error evaluating username claim expression: username claim expression must return a string',
    ],
    [
      'an empty username',
      { sub: '' },
      { username: by('claims.sub') },
      'oidc: empty username via CEL expression is not allowed',
    ],
    [
      'groups of another type',
      { g: { a: 'b' }, ...jane },
      { groups: by('claims.g') },
      'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
    ],
    [
      'a group of another type',
      { g: [['a']], ...jane },
      { groups: by('claims.g') },
      'oidc: error evaluating group claim expression: expression must return a string or a list of strings',
    ],
    [
      'a uid of another type',
      { id: 4, ...jane },
      { uid: by('claims.id') },
      'oidc: error evaluating uid claim expression: uid claim expression must return a string',
    ],
    [
      'extra data of another type',
      { t: 5, ...jane },
      { extra: [extra('e.io/t', 'claims.t')] },
      'oidc: error evaluating extra claim expression: claims.t: expression must return a string or a list of strings',
    ],
    [
      'an absent claim for extra data',
      jane,
      { extra: [extra('e.io/t', 'claims.t')] },
      "expression 'claims.t' resulted in error: no such key: t",
    ],
    [
      'a rule that is false, with its message',
      { hd: 'x', ...jane },
      { claimRules: [rule("claims.hd == 'y'", 'hd must be y')] },
      "oidc: error evaluating claim validation expression: validation expression 'claims.hd == 'y'' failed: hd must be y",
    ],
    [
      'a rule that fails',
      jane,
      { claimRules: [rule("claims.hd == 'y'")] },
      "oidc: error evaluating claim validation expression: expression 'claims.hd == 'y'' resulted in error: no such key: hd",
    ],
    [
      'a user that a rule refuses',
      { sub: 'system:admin' },
      { userRules: [userRule("!user.username.startsWith('system:')", 'reserved')] },
      "oidc: error evaluating user info validation rule: validation expression '!user.username.startsWith('system:')' failed: reserved",
    ],
  ])('refuses %s', (_, claims, mapping, message) => {
    expect(() => map(claims, mapping)).toThrow(expect.objectContaining({ code: 401, message }));
  });

  it('sees a user without absent fields, and the id of the token', () => {
    const rules = [
      "user.uid == '' && user.groups.size() == 0 && has(user.extra)",
      "user.extra['authentication.kubernetes.io/credential-id'] == ['JTI=j']",
    ].map((source) => userRule(source));
    expect(map({ jti: 'j', ...jane }, { userRules: rules }).name).toBe('jane');
  });

  it('sees claims whose names are those of built-in properties as data', () => {
    const claims = '{"sub":"jane","__proto__":{"admin":true},"constructor":"c"}';
    expect(map(claims, { username: by('claims.constructor') }).name).toBe('c');
    expect(() => map(claims, { username: by('claims.admin') })).toThrow('no such key: admin');
    expect(() => map(jane, { username: by('claims.constructor') })).toThrow('no such key: constructor');
    expect(() => map(jane, { username: { claim: 'toString', prefix: '' } })).toThrow('claim not present');
    const polluted = map(claims, { extra: [extra('e.io/__proto__', "'x'")] });
    expect(polluted.extra).toEqual({ 'e.io/__proto__': ['x'] });
  });
});

describe('a user', () => {
  it('is mapped in the order username, groups, uid, extra data, and then its claims and itself are checked', () => {
    const mapping: UserMapping = {
      username: by('claims.a'),
      groups: by('claims.b'),
      uid: by('claims.c'),
      extra: [extra('e.io/d', 'claims.d')],
      requiredClaims: new Map([['e', 'e']]),
      claimRules: [rule("claims.f == 'f'")],
      userRules: [userRule("user.username != 'a'")],
    };
    const claims: JsonObject = {};
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const missing = name === 'e' ? 'required claim e not present' : `no such key: ${name}`;
      expect(() => map(claims, mapping)).toThrow(missing);
      claims[name] = name;
    }
    expect(() => map(claims, mapping)).toThrow('user info validation rule');
  });

  it.each<[string, JsonObject, string]>([
    ['absent', jane, 'oidc: parse uid claim "uid": claim not present'],
    ['a number', { uid: 7, ...jane }, 'oidc: parse uid claim "uid": json: cannot unmarshal number'],
  ])('is refused when the claim of its uid is %s', (_, claims, message) => {
    expect(() => map(claims, { uid: { claim: 'uid' } })).toThrow(message);
  });

  it('has the uid of a claim, which may be empty', () => {
    expect(map({ uid: 'u', ...jane }, { uid: { claim: 'uid' } }).uid).toBe('u');
    expect(map({ uid: '', ...jane }, { uid: { claim: 'uid' } })).toEqual({ name: 'jane', groups: [] });
  });
});

describe('the limits of expressions', () => {
  const many = { l: Array.from({ length: 1_500 }, (_, i) => `${i}`), ...jane };

  it('stop one that costs more than a million', () => {
    const cubic = 'dyn(claims.l).all(a, dyn(claims.l).all(b, a != b + a))';
    expect(() => map(many, { claimRules: [rule(cubic)] })).toThrow('cost limit exceeded');
  });

  it('stop all of a token that cost more than two and a half million together', () => {
    const half = "dyn(claims.l).all(a, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(i, a + string(i) != ''))";
    const rules = Array.from({ length: 40 }, (_, i) => rule(`${half} || ${i} == 1`));
    expect(map(many, { claimRules: rules.slice(0, 1) }).name).toBe('jane');
    expect(() => map(many, { claimRules: rules })).toThrow('cost limit exceeded');
  });

  it('refuse a user of more than 262,144 characters', () => {
    const groups = by('dyn(claims.l).map(a, claims.long + a)');
    expect(() => map({ long: 'x'.repeat(1_000), ...many }, { groups })).toThrow(
      'oidc: the user has more than 262144 characters',
    );
  });

  it('leave the turn to others while they are evaluated', () => {
    const steps = userInSteps(
      many,
      { ...plain, claimRules: [rule("dyn(claims.l).all(a, dyn(claims.l).size() > 1 && a != '')")] },
      namesFor('k8s.io'),
    );
    let count = 1;
    for (let step = steps.next(); step.done !== true; step = steps.next()) count++;
    expect(count).toBeGreaterThan(1);
  });
});
