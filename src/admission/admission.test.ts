import { describe, expect, it } from 'vitest';
import { namesFor, statusError } from '../meta/index.ts';
import { whenConfigured } from './chain.ts';
import { createChain, makePlugins, namespaceLifecycle, pluginNames, runMutating, runValidating } from './index.ts';
import { fakeInitializer, requestFor } from './testing/initializer.ts';
import type { AdmissionPlugin, AdmissionRequest, StepTimer } from './types.ts';

const names = namesFor('k8s.io');
const request = (part: Partial<AdmissionRequest> = {}): AdmissionRequest =>
  requestFor('configmaps', { kind: 'ConfigMap' }, { kind: { group: '', version: 'v1', kind: 'ConfigMap' }, ...part });

describe('admission chain', () => {
  it('runs mutating, then validating plugins in order and stops at the first rejection', async () => {
    const calls: string[] = [];
    const plugin = (name: string, refuse = false): AdmissionPlugin => ({
      name,
      mutate: async () => {
        await Promise.resolve();
        calls.push(`${name} mutates`);
      },
      validate: () => {
        calls.push(`${name} validates`);
        if (refuse) throw statusError.badRequest('no');
      },
    });
    const chain = createChain([plugin('a'), plugin('b', true), plugin('c')]);
    await runMutating(chain, request());
    await expect(runValidating(chain, request())).rejects.toThrow('no');
    expect(calls).toEqual(['a mutates', 'b mutates', 'c mutates', 'a validates', 'b validates']);
  });

  it('runs the mutating plugins again when one of them asks for it', async () => {
    const calls: string[] = [];
    const first: AdmissionPlugin = {
      name: 'a',
      mutate: ({ reinvocation }) => void calls.push(`a ${reinvocation?.again}`),
    };
    const second: AdmissionPlugin = {
      name: 'b',
      mutate: (request) => {
        request.reinvocation ??= { needed: false, again: false };
        request.reinvocation.needed = true;
        calls.push(`b ${request.reinvocation.again}`);
      },
    };
    await runMutating(createChain([first, second]), request());
    expect(calls).toEqual(['a undefined', 'b false', 'a true', 'b true']);
  });
});

describe('a handler of what is configured', () => {
  const handled: (readonly string[])[] = [];
  const handlerOf = (configured: readonly string[] | Promise<readonly string[]>) =>
    whenConfigured(
      () => configured,
      async (values) => void handled.push(values),
    );

  it('passes a request without a promise while nothing is configured', () => {
    expect(handlerOf([])(request())).toBeUndefined();
    expect(handled).toEqual([]);
  });

  it('handles a request with what is configured, also when that is still being read', async () => {
    await handlerOf(Promise.resolve([]))(request());
    await handlerOf(Promise.resolve(['a']))(request());
    await handlerOf(['b'])(request());
    expect(handled).toEqual([['a'], ['b']]);
  });
});

describe('latency metrics', () => {
  it('are observed for each plugin and for the whole phase, up to the plugin that rejects', async () => {
    let now = 1_000;
    const told: string[] = [];
    const timer: StepTimer = ({ plugin, type, operation, rejected }) => {
      const step = `${type} ${operation} ${plugin === '' ? 'all' : plugin}${rejected ? ' refused' : ''}`;
      return (seconds) => told.push(`${step}: ${seconds}`);
    };
    const takes = (name: string, ms: number, refuse = false): AdmissionPlugin => ({
      name,
      validate: async () => {
        await Promise.resolve();
        now += ms;
        if (refuse) throw statusError.badRequest('no');
      },
    });
    const plugins = [takes('a', 250), takes('b', 500), takes('c', 1_000, true), takes('d', 9)];
    const chain = createChain(plugins, { clock: { now: () => now }, timer });
    expect(await runMutating(chain, request())).toBe(false);
    expect(told).toEqual([]);
    await expect(runValidating(chain, request())).rejects.toThrow('no');
    expect(told).toEqual([
      'validate CREATE a: 0.25',
      'validate CREATE b: 0.5',
      'validate CREATE c refused: 1',
      'validate CREATE all refused: 1.75',
    ]);
    await runValidating(
      createChain(plugins.slice(0, 2), { clock: { now: () => now }, timer }),
      request({ operation: 'UPDATE' }),
    );
    expect(told.slice(4)).toEqual(['validate UPDATE a: 0.25', 'validate UPDATE b: 0.5', 'validate UPDATE all: 0.75']);
  });
});

describe('namespace lifecycle', () => {
  const namespaces = new Map([
    ['n', { terminating: false, revision: 7 }],
    ['going', { terminating: true, revision: 8 }],
  ]);
  const outcome = async (part: Partial<AdmissionRequest>, later = false) => {
    const lookup = (name: string) => (later ? Promise.resolve(namespaces.get(name)) : namespaces.get(name));
    try {
      await runMutating(createChain([namespaceLifecycle(lookup, names)]), request(part));
      return 'admitted';
    } catch (error) {
      return error;
    }
  };

  it('admits a create in an active namespace', async () => {
    expect(await outcome({})).toBe('admitted');
    expect(await outcome({}, true)).toBe('admitted');
  });

  it('guards a create, and nothing else, by the revision of the namespace', async () => {
    const guards: number[] = [];
    const guardNamespace = (revision: number) => void guards.push(revision);
    await outcome({ guardNamespace });
    await outcome({ guardNamespace, operation: 'UPDATE' });
    await outcome({ guardNamespace, namespace: 'going' });
    expect(guards).toEqual([7]);
  });

  it('admits a create in a namespace that has been created again since it was terminating', async () => {
    const lookup = (_: string, latest = false) =>
      latest ? Promise.resolve({ terminating: false, revision: 9 }) : { terminating: true, revision: 8 };
    const guards: number[] = [];
    const guardNamespace = (revision: number) => void guards.push(revision);
    await runMutating(createChain([namespaceLifecycle(lookup, names)]), request({ guardNamespace }));
    expect(guards).toEqual([9]);
  });

  it('answers 404 when the namespace does not exist', async () => {
    const refusal = {
      code: 404,
      message: 'namespaces "nope" not found',
      details: { kind: 'namespaces', name: 'nope' },
    };
    expect(await outcome({ namespace: 'nope' })).toMatchObject(refusal);
    expect(await outcome({ namespace: 'nope' }, true)).toMatchObject(refusal);
    expect(await outcome({ namespace: 'nope', operation: 'UPDATE' })).toMatchObject(refusal);
  });

  it('rejects creates, but not updates and deletes, in a terminating namespace', async () => {
    expect(await outcome({ namespace: 'going' })).toMatchObject({
      code: 403,
      message:
        'configmaps "x" is forbidden: unable to create new content in namespace going because it is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
    expect(await outcome({ namespace: 'going', operation: 'UPDATE' })).toBe('admitted');
    expect(await outcome({ namespace: 'going', operation: 'DELETE' })).toBe('admitted');
  });

  it('does not handle CONNECT', async () => {
    expect(await outcome({ namespace: 'nope', operation: 'CONNECT' })).toBe('admitted');
  });

  it('names generateName in the message while the name is not generated', async () => {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'web-x', generateName: 'web-' } };
    expect(await outcome({ namespace: 'going', name: '', object })).toMatchObject({
      message: expect.stringMatching(/^configmaps "web-" is forbidden: /) as string,
    });
  });

  it('rejects the deletion of system namespaces', async () => {
    const resource = { group: '', version: 'v1', resource: 'namespaces' };
    const remove = (name: string) => outcome({ operation: 'DELETE', resource, namespace: '', name });
    expect(await remove('kube-system')).toMatchObject({
      code: 403,
      message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    });
    expect(await remove('default')).toMatchObject({ code: 403 });
    expect(await remove('n')).toBe('admitted');
  });

  it('ignores cluster-scoped objects and access reviews', async () => {
    expect(await outcome({ namespace: '' })).toBe('admitted');
    const resource = { group: 'authorization.k8s.io', version: 'v1', resource: 'localsubjectaccessreviews' };
    expect(await outcome({ namespace: 'nope', resource })).toBe('admitted');
  });
});

describe('handles', () => {
  it('is called once for each operation and resource, and the plugin sees no other requests', async () => {
    const asked: string[] = [];
    const seen: string[] = [];
    const chain = createChain([
      {
        name: 'a',
        handles: ({ operation, resource, subresource }) => {
          asked.push(`${operation} ${resource}/${subresource}`);
          return resource === 'configmaps' && operation === 'UPDATE';
        },
        mutate: ({ operation }) => void seen.push(operation),
      },
    ]);
    for (const operation of ['CREATE', 'UPDATE', 'UPDATE', 'DELETE'] as const) {
      await runMutating(chain, request({ operation }));
    }
    expect(seen).toEqual(['UPDATE', 'UPDATE']);
    expect(asked).toEqual(['CREATE configmaps/', 'UPDATE configmaps/', 'DELETE configmaps/', 'CONNECT configmaps/']);
  });

  it('leaves the plugins that are for all objects, for the creation of a config map', () => {
    const place = { operation: 'CREATE', resource: 'configmaps', subresource: '' } as const;
    const concerned = makePlugins(fakeInitializer(), [], []).filter(({ handles }) => handles?.(place) ?? true);
    expect(concerned.map(({ name }) => name)).toEqual([
      'NamespaceLifecycle',
      'MutatingAdmissionPolicy',
      'MutatingAdmissionWebhook',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionWebhook',
      'ResourceQuota',
    ]);
  });
});

describe('the list of plugins', () => {
  const namesOf = (on: readonly string[], off: readonly string[]) =>
    makePlugins(fakeInitializer(), on, off).map(({ name }) => name);
  it('names each plugin as the plugin names itself', () => {
    expect(namesOf(pluginNames, [])).toEqual(pluginNames);
  });

  it('is that of the reference server, in its order, with the same ones on by default', () => {
    const on = `NamespaceLifecycle LimitRanger ServiceAccount TaintNodesByCondition PodSecurity Priority
      DefaultTolerationSeconds DefaultStorageClass StorageObjectInUseProtection PersistentVolumeClaimResize RuntimeClass
      CertificateApproval CertificateSigning ClusterTrustBundleAttest CertificateSubjectRestriction DefaultIngressClass
      PodTopologyLabels MutatingAdmissionPolicy MutatingAdmissionWebhook ValidatingAdmissionPolicy
      ValidatingAdmissionWebhook ResourceQuota`.split(/\s+/);
    const all = `AlwaysAdmit NamespaceAutoProvision NamespaceLifecycle NamespaceExists LimitPodHardAntiAffinityTopology
      LimitRanger ServiceAccount NodeRestriction TaintNodesByCondition AlwaysPullImages ImagePolicyWebhook PodSecurity
      PodNodeSelector Priority DefaultTolerationSeconds PodTolerationRestriction EventRateLimit
      ExtendedResourceToleration DefaultStorageClass StorageObjectInUseProtection OwnerReferencesPermissionEnforcement
      PersistentVolumeClaimResize RuntimeClass CertificateApproval CertificateSigning ClusterTrustBundleAttest
      CertificateSubjectRestriction DefaultIngressClass DenyServiceExternalIPs PodTopologyLabels MutatingAdmissionPolicy
      MutatingAdmissionWebhook ValidatingAdmissionPolicy ValidatingAdmissionWebhook ResourceQuota AlwaysDeny`.split(
      /\s+/,
    );
    expect(pluginNames).toEqual(all);
    expect(namesOf([], [])).toEqual(all.filter((name) => on.includes(name)));
  });

  it('enables and disables plugins without changing their order', () => {
    expect(namesOf([], [])).not.toContain('OwnerReferencesPermissionEnforcement');
    expect(namesOf([], []).at(-1)).toBe('ResourceQuota');
    expect(namesOf(pluginNames.toReversed(), [])).toEqual(pluginNames);
    expect(namesOf([], ['PodSecurity', 'ResourceQuota'])).toEqual(
      namesOf([], []).filter((name) => name !== 'PodSecurity' && name !== 'ResourceQuota'),
    );
  });
});
