import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type ApiObject, namesFor, scheduler, type Turns } from '../../meta/index.ts';
import type { Attributes, Decision, Rules } from '../types.ts';
import { missingPermissions } from './coverage.ts';
import { rbacAuthorizer } from './rbac-authorizer.ts';
import { RbacIndex } from './rbac-index.ts';
import { type Action, resourceAction, rulesOf } from './rules.ts';
import { anyObject, anyRequest, anyRules, everyRequest } from './testing/arbitraries.ts';
import { keyOf, modelAllows, objectOf, ruleAllows, type Stored, type StoredObject } from './testing/model.ts';

const names = namesFor('k8s.io');

function put(index: RbacIndex, { kind, namespace, name }: StoredObject, object: ApiObject | undefined): void {
  if (kind === 'Role' || kind === 'ClusterRole') index.setRole(namespace, name, object);
  else index.setBinding(namespace, name, object);
}

function indexOf(objects: Iterable<StoredObject>): RbacIndex {
  const index = new RbacIndex();
  index.loaded = true;
  for (const object of objects) put(index, object, objectOf(object));
  return index;
}

const decide = (index: RbacIndex, request: Attributes) => rbacAuthorizer(index, names)(request) as Decision;
const rulesFor = async (index: RbacIndex, { user, resource }: Attributes) =>
  rbacAuthorizer(index, names).rulesFor?.(user, resource?.namespace ?? '');

const storedOf = (objects: readonly StoredObject[]): Stored =>
  new Map(objects.map((object) => [keyOf(object), object]));
const anyObjects = fc.array(anyObject, { maxLength: 40, size: 'max' });
const anyChanges = fc.array(fc.record({ object: anyObject, deleted: fc.boolean() }), { maxLength: 30, size: 'max' });

describe('decisions', () => {
  it('are those of the specification', () => {
    let granted = 0;
    fc.assert(
      fc.property(
        anyObjects,
        fc.array(anyRequest, { minLength: 1, maxLength: 20, size: 'max' }),
        (objects, requests) => {
          const stored = storedOf(objects);
          const index = indexOf(stored.values());
          for (const request of requests) {
            const { allowed, denied } = decide(index, request);
            expect(allowed).toBe(modelAllows(stored, request));
            expect(denied).toBeUndefined();
            if (allowed) granted += 1;
          }
        },
      ),
      { numRuns: 500 },
    );
    expect(granted).toBeGreaterThan(100);
  });

  it('follow changes as an index of the final objects does, and keep nothing of removed objects', async () => {
    await fc.assert(
      fc.asyncProperty(anyChanges, fc.array(anyRequest, { maxLength: 10 }), async (changes, requests) => {
        const stored: Stored = new Map();
        const index = indexOf([]);
        for (const { object, deleted } of changes) {
          put(index, object, deleted ? undefined : objectOf(object));
          stored.delete(keyOf(object));
          if (!deleted) stored.set(keyOf(object), object);
        }
        const fresh = indexOf(stored.values());
        expect(index.sizes).toEqual(fresh.sizes);
        for (const request of requests) {
          expect(decide(index, request).allowed).toBe(decide(fresh, request).allowed);
          expect(ruleSet(await rulesFor(index, request))).toEqual(ruleSet(await rulesFor(fresh, request)));
        }
        for (const object of stored.values()) put(index, object, undefined);
        expect(index.sizes).toEqual({ roles: 0, bindings: 0, users: 0, groups: 0 });
      }),
      { numRuns: 300 },
    );
  });
});

const ruleSet = (rules: unknown) =>
  JSON.stringify(rules, (_, value) => (Array.isArray(value) ? value.map((v) => JSON.stringify(v)).sort() : value));

describe('rules of a user', () => {
  it('allow exactly what is decided', async () => {
    await fc.assert(
      fc.asyncProperty(anyObjects, anyRequest, async (objects, request) => {
        const index = indexOf(storedOf(objects).values());
        const rules = (await rulesFor(index, request)) as Rules;
        expect(rules.incomplete).toBe(false);
        const all = [...rules.resourceRules, ...rules.nonResourceRules];
        expect(all.some((rule) => ruleAllows(rule as never, request))).toBe(decide(index, request).allowed);
      }),
      { numRuns: 300 },
    );
  });
});

describe('coverage', () => {
  const owner = { name: 'jane', groups: [] };
  const requests = everyRequest(owner);
  const held = (rules: StoredObject['rules']): StoredObject[] => [
    { kind: 'ClusterRole', namespace: '', name: 'r', rules, subjects: [], roleRef: {} },
    {
      kind: 'ClusterRoleBinding',
      namespace: '',
      name: 'b',
      rules: [],
      subjects: [{ kind: 'User', name: 'jane' }],
      roleRef: { kind: 'ClusterRole', name: 'r' },
    },
  ];

  it('holds if and only if every request that the rules allow is allowed already', async () => {
    const seen = { covered: 0, missing: 0 };
    await fc.assert(
      fc.asyncProperty(anyRules, anyRules, async (own, granted) => {
        const index = indexOf(held(own));
        const rules = rulesOf({ rules: granted } as unknown as ApiObject);
        const missing = await missingPermissions(index, owner, 'a', rules);
        const grants = requests.filter((request) => granted.some((rule) => ruleAllows(rule, request)));
        const covered = grants.every((request) => own.some((rule) => ruleAllows(rule, request)));
        expect(missing.length === 0).toBe(covered);
        if (grants.length > 0) seen[covered ? 'covered' : 'missing'] += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(Math.min(seen.covered, seen.missing)).toBeGreaterThan(20);
  });
});

describe('texts', () => {
  const role = (kind: 'Role' | 'ClusterRole', namespace: string, name: string): StoredObject => ({
    kind,
    namespace,
    name,
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    subjects: [],
    roleRef: {},
  });
  const binding = (
    namespace: string,
    name: string,
    roleRef: StoredObject['roleRef'],
    ...subjects: StoredObject['subjects'][number][]
  ): StoredObject => {
    const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
    return { kind, namespace, name, rules: [], subjects, roleRef };
  };
  const getPods = (name: string, ...groups: string[]): Attributes => ({
    user: { name, groups },
    verb: 'get',
    path: '',
    resource: { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'ns', name: 'p' },
  });
  const clusterRole = { kind: 'ClusterRole', name: 'y' };

  it('name the binding, the role and the first subject that applies', () => {
    const ops = { kind: 'Group', name: 'ops' };
    const wide = indexOf([
      role('ClusterRole', '', 'y'),
      binding('', 'x', clusterRole, ops, { kind: 'Group', name: 'dev' }, { kind: 'User', name: 'jane' }),
    ]);
    const to = (subject: string) => `RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to ${subject}`;
    expect(decide(wide, getPods('jane')).reason).toBe(to('User "jane"'));
    expect(decide(wide, getPods('jane', 'dev')).reason).toBe(to('Group "dev"'));
    expect(decide(wide, getPods('jane', 'dev', 'ops')).reason).toBe(to('Group "ops"'));
    const bot = { kind: 'ServiceAccount', name: 'bot' };
    const narrow = indexOf([role('Role', 'ns', 'r'), binding('ns', 'b', { kind: 'Role', name: 'r' }, bot)]);
    expect(decide(narrow, getPods('system:serviceaccount:ns:bot')).reason).toBe(
      'RBAC: allowed by RoleBinding "b/ns" of Role "r" to ServiceAccount "bot/ns"',
    );
  });

  it('name each role that does not exist once, and no more than sixteen', async () => {
    const jane = { kind: 'User', name: 'jane' };
    const index = indexOf([binding('', 'a', clusterRole, jane), binding('ns', 'b', clusterRole, jane)]);
    const cluster = 'clusterrole.rbac.authorization.k8s.io "y" not found';
    expect(decide(index, getPods('jane'))).toEqual({ allowed: false, reason: `RBAC: ${cluster}` });
    put(index, binding('ns', 'c', {}), objectOf(binding('ns', 'c', { kind: 'Role', name: 'r' }, jane)));
    const both = `[${cluster}, role.rbac.authorization.k8s.io "r" not found]`;
    expect(decide(index, getPods('jane')).reason).toBe(`RBAC: ${both}`);
    expect(await rulesFor(index, getPods('jane'))).toMatchObject({ incomplete: false, evaluationError: both });
    for (let i = 0; i < 1_000; i++) {
      put(index, binding('ns', `m${i}`, {}), objectOf(binding('ns', `m${i}`, { kind: 'Role', name: `m${i}` }, jane)));
    }
    expect(decide(index, getPods('jane')).reason).toMatch(/"m13" not found, and 986 more\]$/);
  });

  it('tell that the index is not loaded, in which case there is no opinion', async () => {
    const index = indexOf([
      role('ClusterRole', '', 'y'),
      binding('', 'x', clusterRole, { kind: 'User', name: 'jane' }),
    ]);
    index.loaded = false;
    const reason = 'RBAC: the roles and bindings are not loaded yet';
    expect(decide(index, getPods('jane'))).toEqual({ allowed: false, reason });
    expect(await rulesFor(index, getPods('jane'))).toEqual({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: reason,
    });
  });

  it('show missing permissions as one sorted line for each resource and name', async () => {
    const rules = rulesOf({
      rules: [
        { apiGroups: ['apps', ''], resources: ['pods'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['pods'], verbs: ['*'] },
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b"'], verbs: ['get'] },
        { nonResourceURLs: ['/x', '/y'], verbs: ['get', 'put'] },
      ],
    } as unknown as ApiObject);
    const jane = { name: 'jane', groups: [] };
    expect(await missingPermissions(indexOf([]), jane, '', rules)).toEqual([
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "*"]}',
      '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b\\""], Verbs:["get"]}',
      '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}',
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["put"]}',
      '{NonResourceURLs:["/y"], Verbs:["get"]}',
      '{NonResourceURLs:["/y"], Verbs:["put"]}',
    ]);
  });
});

describe('bounded work', () => {
  const many = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
  const product = { apiGroups: many(1_000, 'g'), resources: many(1_000, 'r'), verbs: many(1_000, 'v') };
  const asRole = { rules: [product] } as unknown as ApiObject;
  const all = { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] } as unknown as ApiObject;
  const jane = { name: 'jane', groups: [] };

  it('compiles a rule in space linear in its lists', () => {
    const index = indexOf([]);
    index.setRole('', 'r', asRole);
    expect(index.rulesOf('ClusterRole', '', 'r')?.byResource.size).toBe(1_000);
  });

  it('counts a role once for each subject, whatever the number of its bindings', () => {
    const index = indexOf([]);
    const rules = many(20_000, 'n').map((name) => ({
      apiGroups: [''],
      resources: ['pods'],
      resourceNames: [name],
      verbs: ['get'],
    }));
    index.setRole('ns', 'r', { rules } as unknown as ApiObject);
    const subjects = [{ kind: 'User', name: 'jane' }];
    for (const name of many(1_500, 'b')) {
      index.setBinding('ns', name, { subjects, roleRef: { kind: 'Role', name: 'r' } } as unknown as ApiObject);
    }
    expect(index.rolesOf(jane, 'ns').size).toBe(1);
    for (const name of many(1_499, 'b')) index.setBinding('ns', name, undefined);
    expect(index.rolesOf(jane, 'ns').size).toBe(1);
    index.setBinding('ns', 'b1499', undefined);
    expect(index.rolesOf(jane, 'ns').size).toBe(0);
  });

  it('decides in turns when many permissions have to be looked at', async () => {
    const index = indexOf([]);
    const rules = many(3_000, 'v').map((verb) => ({ apiGroups: [''], resources: ['pods'], verbs: [verb] }));
    const subjects = [{ kind: 'User', name: 'jane' }];
    for (const name of many(10, 'r')) {
      index.setRole('ns', name, { rules } as unknown as ApiObject);
      index.setBinding('ns', name, { subjects, roleRef: { kind: 'Role', name } } as unknown as ApiObject);
    }
    const [get, other] = ['v2999', 'none'].map((verb) => resourceAction(verb, '', 'pods', '', ''));
    expect(index.findGrant(jane, 'ns', get as Action)).toMatchObject({ name: 'r0' });
    const found = index.findGrant(jane, 'ns', other as Action);
    expect(found).toBeInstanceOf(Promise);
    expect(await found).toBeUndefined();
    index.setRole('ns', 'r9', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['none'] }] } as never);
    const next = vi.fn(async () => {});
    vi.spyOn(scheduler, 'turns').mockReturnValue({ over: true, next } as unknown as Turns);
    expect(await index.findGrant(jane, 'ns', other as Action)).toMatchObject({ name: 'r9' });
    expect(next).toHaveBeenCalled();
  });

  it('lists a limited number of rules, equal ones once, and says so', async () => {
    const index = indexOf([]);
    const subjects = [{ kind: 'User', name: 'jane' }];
    const bind = (name: string, rules: readonly object[]) => {
      index.setRole('ns', name, { rules } as unknown as ApiObject);
      index.setBinding('ns', name, { subjects, roleRef: { kind: 'Role', name } } as unknown as ApiObject);
    };
    const rule = (verb: string) => ({ apiGroups: [''], resources: ['pods'], verbs: [verb] });
    bind('a', [rule('get'), rule('list')]);
    bind('b', [rule('list'), rule('get')]);
    const request = {
      user: jane,
      resource: { namespace: 'ns' },
    } as unknown as Attributes;
    expect(await rulesFor(index, request)).toMatchObject({ incomplete: false });
    expect((await rulesFor(index, request))?.resourceRules).toHaveLength(2);
    for (const name of many(5, 'many')) bind(name, many(20_000, name).map(rule));
    const listed = await rulesFor(index, request);
    expect(listed).toMatchObject({ incomplete: true, evaluationError: expect.stringContaining('too many to list') });
    expect(JSON.stringify(listed).length).toBeLessThan(4 * 1024 * 1024);
  });

  it('compares a limited number of combinations, in turns', async () => {
    const index = indexOf([]);
    index.setRole('', 'r', all);
    index.setBinding('', 'b', {
      subjects: [{ kind: 'User', name: 'jane' }],
      roleRef: { kind: 'ClusterRole', name: 'r' },
    } as unknown as ApiObject);
    const turns = { count: 0, over: true, next: async () => void turns.count++ };
    const [line = ''] = await missingPermissions(index, jane, '', rulesOf(asRole), turns);
    expect(line).toMatch(/^more than 50000 combinations/);
    expect(turns.count).toBe(50_000);
  });

  it('names a limited number of missing permissions', async () => {
    const lines = await missingPermissions(indexOf([]), jane, '', rulesOf(asRole));
    expect(lines.at(-1)).toBe('…');
    expect(lines.join('\n').length).toBeLessThan(32 * 1024);
  });

  it('takes what is not of the declared type for nothing', () => {
    const index = indexOf([]);
    const odd: unknown[] = [null, 5, 'x', {}, [], [null], [{ verbs: 5 }], { constructor: 1 }];
    for (const value of odd) {
      index.setRole('ns', 'r', { rules: value } as unknown as ApiObject);
      index.setBinding('ns', 'b', { subjects: value, roleRef: value } as unknown as ApiObject);
      index.setBinding('', 'b', { subjects: [value], roleRef: value } as unknown as ApiObject);
    }
    // One of the roles is that of a kind without a name.
    expect(index.sizes).toEqual({ roles: 2, bindings: 2, users: 0, groups: 0 });
  });
});
