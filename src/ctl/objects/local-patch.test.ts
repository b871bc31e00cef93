import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { patchLocally } from './local-patch.ts';

describe('a strategic merge patch', () => {
  const binding = (apiGroup: string, ...subjects: JsonObject[]): JsonObject => ({
    apiVersion: `${apiGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'a', finalizers: ['a/b'] },
    subjects,
  });

  it('merges the lists of built-in types by their merge keys', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      spec: { containers: [{ name: 'main', image: 'a', args: ['x'], ports: [{ containerPort: 80 }] }] },
    };
    const patch = { spec: { containers: [{ name: 'main', args: ['y'], ports: [{ containerPort: 81 }] }] } };
    const containers = [
      { name: 'main', image: 'a', args: ['y'], ports: [{ containerPort: 81 }, { containerPort: 80 }] },
    ];
    expect(await patchLocally(pod, 'strategic', patch)).toEqual({ ...pod, spec: { containers } });
  });

  it.each(['rbac.authorization.k8s.io', 'rbac.authorization.orch.io'])('knows the types of %s', async (group) => {
    const patch = { metadata: { finalizers: ['c/d'] }, subjects: [{ kind: 'User', name: 'b' }] };
    const before = binding(group, { kind: 'User', name: 'a' });
    // Finalizers are merged, subjects have no merge key.
    const after = {
      ...binding(group, { kind: 'User', name: 'b' }),
      metadata: { name: 'a', finalizers: ['c/d', 'a/b'] },
    };
    expect(await patchLocally(before, 'strategic', patch)).toEqual(after);
  });

  it('needs the merge key of each item', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', spec: { containers: [{ name: 'main' }] } };
    const patch = { spec: { containers: [{ image: 'c' }] } };
    await expect(patchLocally(pod, 'strategic', patch)).rejects.toThrow(/does not contain declared merge key: name/);
  });

  it.each(['example.com/v1', 'apps.example.com/v1', 'apps/v9', 'a/b/c', ''])(
    'is not possible for types of %s',
    async (apiVersion) => {
      await expect(patchLocally({ apiVersion, kind: 'Deployment' }, 'strategic', {})).rejects.toThrow(
        'custom types have no strategic merge patch: use --type=merge for Deployment',
      );
    },
  );
});

it('a JSON patch that does not apply says why', async () => {
  const patch = [{ op: 'remove', path: '/data/zz' }];
  await expect(patchLocally({ data: {} }, 'json', patch)).rejects.toThrow(
    "error in remove for path: '/data/zz': Unable to remove nonexistent key: zz: missing value",
  );
});
