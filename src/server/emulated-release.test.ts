import { afterEach, describe, expect, it } from 'vitest';
import type { OrchServer } from './server.ts';
import type { ServerOptions } from './settings/server-options.ts';
import { requestServer } from './testing/request-server.ts';

const open: OrchServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(options: ServerOptions) {
  const { server, request } = await requestServer({ controllers: '-*', ...options });
  open.push(server);
  return request;
}

describe('an emulated release', () => {
  it('is shown in /version and in a metric', async () => {
    const request = await start({ emulatedVersion: '1.32' });
    expect(JSON.parse((await request('GET', '/version')).text)).toMatchObject({
      major: '1',
      minor: '33',
      emulationMajor: '1',
      emulationMinor: '32',
      minCompatibilityMajor: '1',
      minCompatibilityMinor: '31',
    });
    expect((await request('GET', '/metrics')).text).toContain(
      'version_info{binary="1.33.0",component="kube",emulation="1.32",min_compat="1.31"} 1',
    );
  });

  it('can be rolled back to the release of --min-compatibility-version', async () => {
    const request = await start({ minCompatibilityVersion: '1.31' });
    expect(JSON.parse((await request('GET', '/version')).text)).toMatchObject({
      emulationMinor: '33',
      minCompatibilityMinor: '31',
    });
  });

  it.each<[release: string, status: number]>([
    ['1.32', 422],
    ['1.33', 201],
  ])('accepts new expressions of --min-compatibility-version=%s only: %i', async (minCompatibilityVersion, status) => {
    const request = await start({ minCompatibilityVersion });
    const expression = "semver('1.2.3').major() == 1";
    const webhook = {
      name: 'a.example.com',
      clientConfig: { url: 'https://localhost/' },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchConditions: [{ name: 'a', expression }],
    };
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }];
    const property = { type: 'object', 'x-kubernetes-validations': [{ rule: expression }] };
    const answers = [
      await request('POST', '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', {
        metadata: { name: 'a' },
        spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression }] },
      }),
      await request('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
        metadata: { name: 'a' },
        webhooks: [webhook],
      }),
      await request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        metadata: { name: 'wheels.example.com' },
        spec: {
          group: 'example.com',
          names: { plural: 'wheels', kind: 'Wheel' },
          scope: 'Cluster',
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: property } }],
        },
      }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([status, status, status]);
    for (const { text } of status === 422 ? answers : []) {
      expect(text).toMatch(
        /'semver'.*It is valid from release 1\.33 on; .* release 1\.32 \(--min-compatibility-version\)/s,
      );
    }
  });

  it('serves the versions that it has', async () => {
    const paths = ['networking.k8s.io/v1/servicecidrs', 'networking.k8s.io/v1/ingresses', 'apps/v1/deployments'];
    const statuses = async (options: ServerOptions) => {
      const request = await start(options);
      return Promise.all(paths.map(async (path) => (await request('GET', `/apis/${path}`)).status));
    };
    expect(await statuses({})).toEqual([200, 200, 200]);
    expect(await statuses({ emulatedVersion: '1.32' })).toEqual([404, 200, 200]);
  });

  it('serves no version that came later, also when --runtime-config names it', async () => {
    const settings = { runtimeConfig: 'resource.k8s.io/v1beta1,resource.k8s.io/v1beta2' };
    const gates = { featureGates: 'DynamicResourceAllocation=true' };
    const request = await start({ ...settings, ...gates, emulatedVersion: '1.32' });
    expect((await request('GET', '/apis/resource.k8s.io/v1beta1/deviceclasses')).status).toBe(200);
    expect((await request('GET', '/apis/resource.k8s.io/v1beta2/deviceclasses')).status).toBe(404);
  });

  it('serves what was removed later, as it did', async () => {
    const statuses = async (options: ServerOptions) => {
      const request = await start(options);
      const versions = ['v1beta3', 'v1beta2'];
      return Promise.all(
        versions.map(
          async (of) => (await request('GET', `/apis/flowcontrol.apiserver.k8s.io/${of}/flowschemas`)).status,
        ),
      );
    };
    // Removed in 1.32 and in 1.29.
    expect(await statuses({ emulatedVersion: '1.31' })).toEqual([200, 404]);
    expect(await statuses({ emulatedVersion: '1.32' })).toEqual([404, 404]);
    const runtimeConfig = {
      'flowcontrol.apiserver.k8s.io/v1beta3': false,
      'flowcontrol.apiserver.k8s.io/v1beta2': true,
    };
    expect(await statuses({ emulatedVersion: '1.31', runtimeConfig })).toEqual([404, 200]);
  });

  it('warns of what it deprecates, and of nothing later', async () => {
    const url = '/api/v1/namespaces/default/endpoints';
    const latest = await start({});
    expect((await latest('GET', url)).warning).toBe(
      '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"',
    );
    const former = await start({ emulatedVersion: '1.32' });
    expect((await former('GET', url)).warning).toBeUndefined();
    expect((await former('GET', '/api/v1/componentstatuses')).warning).toBe(
      '299 - "v1 ComponentStatus is deprecated in v1.19+"',
    );
  });

  it('has the fields that its gates enable', async () => {
    const pod = {
      metadata: { name: 'p' },
      spec: {
        containers: [{ name: 'c', image: 'i' }],
        securityContext: { supplementalGroupsPolicy: 'Strict' },
      },
    };
    const shown = async (options: ServerOptions) => {
      const request = await start({ ...options, disableAdmissionPlugins: 'ServiceAccount' });
      const { status, text } = await request('POST', '/api/v1/namespaces/default/pods', pod);
      expect(status, text).toBe(201);
      return text.includes('"supplementalGroupsPolicy":"Strict"');
    };
    // Beta and on since 1.33.
    expect(await shown({})).toBe(true);
    expect(await shown({ emulatedVersion: '1.32' })).toBe(false);
    expect(await shown({ emulatedVersion: '1.32', featureGates: 'SupplementalGroupsPolicy=true' })).toBe(true);
  });

  it.each([
    [{ emulatedVersion: '1.30' }, 'emulatedVersion must be from 1.31 to 1.33; 1.30 is not'],
    [{ emulatedVersion: '1.34' }, 'emulatedVersion must be from 1.31 to 1.33; 1.34 is not'],
    [{ emulatedVersion: '1.33.1' }, 'emulatedVersion="1.33.1" must be a minor release; "1.33.1" has a patch version'],
    [{ emulatedVersion: 'other=1.32' }, 'names the unknown component "other": leave it out'],
    [{ emulatedVersion: '1.33,1.32' }, 'must be one release; "1.33,1.32" has several'],
    [{ emulatedVersion: 'abc' }, 'must be a release such as 1.32; "abc" is not'],
    [{ minCompatibilityVersion: '1.30' }, 'minCompatibilityVersion must be from 1.31 to 1.33; 1.30 is not'],
    [
      { emulatedVersion: '1.32', minCompatibilityVersion: '1.33' },
      'minCompatibilityVersion must be from 1.31 to 1.32; 1.33 is not',
    ],
    [
      { emulatedVersion: '1.32', featureGates: 'ContainerStopSignals=true' },
      'featureGates: cannot set feature gate ContainerStopSignals to true, release 1.32 does not have the feature',
    ],
  ] as const)('cannot be that of %j', async (options, problem) => {
    await expect(start(options)).rejects.toThrow(problem);
  });

  it.each(['1.32', 'v1.32', '1.32.0', 'kube=1.32'])('may be spelled %s', async (emulatedVersion) => {
    const request = await start({ emulatedVersion });
    expect((await request('GET', '/version')).text).toMatch(/"emulationMinor": ?"32"/);
  });
});

describe('a deprecated version', () => {
  it('says so in its description', async () => {
    const runtimeConfig = 'authorization.k8s.io/v1beta1';
    const request = await start({ runtimeConfig });
    const description = async (path: string, name: string) => {
      const { components } = JSON.parse((await request('GET', `/openapi/v3/${path}`)).text) as {
        components: { schemas: { [name: string]: { description: string } } };
      };
      return components.schemas[name]?.description;
    };
    const end = /Deprecated: (.*)$/;
    const endpoints = await description('api/v1', 'io.k8s.api.core.v1.Endpoints');
    expect(end.exec(endpoints ?? '')?.[1]).toBe(
      'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice.',
    );
    const review = 'io.k8s.api.authorization.v1beta1.SubjectAccessReview';
    expect(end.exec((await description('apis/authorization.k8s.io/v1beta1', review)) ?? '')?.[1]).toBe(
      'authorization.k8s.io/v1beta1 SubjectAccessReview is deprecated in v1.19+, unavailable in v1.22+; use authorization.k8s.io/v1 SubjectAccessReview.',
    );
    expect(await description('api/v1', 'io.k8s.api.core.v1.ConfigMap')).not.toMatch(end);
  });

  it('is a gauge until DELETE /metrics', async () => {
    const request = await start({ runtimeConfig: 'authorization.k8s.io/v1beta1' });
    const gauge = async () =>
      (await request('GET', '/metrics')).text.match(/^apiserver_requested_deprecated_apis\{.*/gm);
    await request('POST', '/apis/authorization.k8s.io/v1beta1/selfsubjectrulesreviews', { spec: {} });
    expect(await gauge()).toEqual([
      'apiserver_requested_deprecated_apis{group="authorization.k8s.io",removed_release="1.22",resource="selfsubjectrulesreviews",subresource="",version="v1beta1"} 1',
    ]);
    expect((await request('DELETE', '/metrics')).text).toBe('metrics reset\n');
    expect(await gauge()).toBeNull();
    await request('GET', '/api/v1/componentstatuses');
    expect((await gauge())?.length).toBe(1);
  });
});
