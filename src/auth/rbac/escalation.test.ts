import { describe, expect, it } from 'vitest';
import { type ApiObject, type CheckedWrite, namesFor, StatusError } from '../../meta/index.ts';
import { escalationChecks } from './escalation.ts';
import { RbacIndex } from './rbac-index.ts';

// How requests are answered is covered by the tests of the server room.
const names = namesFor('k8s.io');
const group = 'rbac.authorization.k8s.io';
const as = (object: object) => object as unknown as ApiObject;
const rules = (...verbs: string[]) => [{ apiGroups: [''], resources: ['pods'], verbs }];
const bindingOf = (role: string) =>
  as({
    metadata: { name: 'b' },
    subjects: [{ kind: 'User', name: 'jane' }],
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
  });

/** A check of a write by jane, who holds `get`; `catchUp` changes the index when it is synchronised. */
function checks(catchUp: (index: RbacIndex) => void = () => {}) {
  const index = new RbacIndex();
  index.setRole('', 'own', as({ rules: rules('get') }));
  index.setBinding('', 'own', bindingOf('own'));
  index.setRole('', 'other', as({ rules: rules('get') }));
  let asked = 0;
  const all = escalationChecks({
    index,
    names,
    authorize: () => {
      asked += 1;
      return { allowed: false, reason: '' };
    },
    synced: async () => catchUp(index),
  });
  const run = async (resource: string, write: Partial<CheckedWrite>): Promise<string> => {
    const requester = { name: 'jane', groups: [] };
    try {
      const base = { requester, namespace: '', requestName: '', oldObject: undefined, object: as({ metadata: {} }) };
      await all.get(`${resource}.${group}`)?.({ ...base, ...write });
      return 'passed';
    } catch (error) {
      if (error instanceof StatusError) return `${error.code} ${error.message.split('\n').at(-1)}`;
      throw error;
    }
  };
  return { run, asked: () => asked };
}

const deletes = '403 {APIGroups:[""], Resources:["pods"], Verbs:["delete"]}';

describe('an escalation check', () => {
  it('sees what another server has written', async () => {
    const role = { object: as({ metadata: { name: 'r' }, rules: rules('get', 'delete') }) };
    expect(await checks().run('clusterroles', role)).toBe(deletes);
    const widenOwn = (index: RbacIndex) => index.setRole('', 'own', as({ rules: rules('*') }));
    expect(await checks(widenOwn).run('clusterroles', role)).toBe('passed');
    const binding = { object: bindingOf('other') };
    expect(await checks().run('clusterrolebindings', binding)).toBe('passed');
    const widenOther = (index: RbacIndex) => index.setRole('', 'other', as({ rules: rules('get', 'delete') }));
    expect(await checks(widenOther).run('clusterrolebindings', binding)).toBe(deletes);
    const dropOther = (index: RbacIndex) => index.setRole('', 'other', undefined);
    expect(await checks(dropOther).run('clusterrolebindings', binding)).toBe(
      `404 clusterroles.${group} "other" not found`,
    );
  });

  it('asks nothing for members of system:masters', async () => {
    const { run, asked } = checks();
    const requester = { name: 'admin', groups: ['system:masters'] };
    expect(await run('clusterroles', { requester, object: as({ metadata: {}, rules: rules('*') }) })).toBe('passed');
    expect(await run('clusterrolebindings', { requester, object: bindingOf('absent') })).toBe('passed');
    expect(asked()).toBe(0);
  });

  it('names the roles that could not be resolved', async () => {
    const lost = (index: RbacIndex) => index.setBinding('', 'lost', bindingOf('lost'));
    const object = as({ metadata: { name: 'r' }, rules: rules('delete') });
    expect(await checks(lost).run('clusterroles', { object })).toBe(
      `${deletes}; resolution errors: [clusterroles.${group} "lost" not found]`,
    );
  });

  it('does not take a ClusterRole for the Role that a ClusterRoleBinding names', async () => {
    const index = new RbacIndex();
    index.loaded = true;
    index.setRole('', 'own', as({ rules: rules('get') }));
    index.setBinding('', 'b', as({ ...bindingOf('own'), roleRef: { kind: 'Role', name: 'own' } }));
    expect(index.rulesOf('Role', '', 'own')).toBeUndefined();
    expect([...index.rolesOf({ name: 'jane', groups: [] }, '')]).toMatchObject([
      { kind: 'Role', name: 'own', supported: false, compiled: undefined },
    ]);
  });
});
