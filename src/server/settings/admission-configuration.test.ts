import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startHook } from '../../../test/support/hook.ts';
import { stringifyYaml } from '../../codec/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { namesFor } from '../../meta/index.ts';
import { createServer } from '../server.ts';
import { readAdmission } from './admission-configuration.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'admission-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const domain = 'k8s.io';
const warnings: string[] = [];

function write(name: string, content: object | string): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : stringifyYaml(content as never));
  return path;
}

/** Reads a file with these plugins enabled in addition to the default ones. */
async function read(content: object | string, enableAdmissionPlugins: readonly string[] = []) {
  warnings.length = 0;
  const settings = {
    admissionControlConfigFile: write('admission.yaml', content),
    enableAdmissionPlugins,
    disableAdmissionPlugins: [],
  };
  const log = { warn: (text: string) => warnings.push(text) };
  return (await readAdmission(settings, namesFor(domain), log)).configurations;
}

const file = (...plugins: object[]) => ({
  apiVersion: `apiserver.config.${domain}/v1`,
  kind: 'AdmissionConfiguration',
  plugins,
});
const podSecurity = (fields: object) => ({
  apiVersion: `pod-security.admission.config.${domain}/v1`,
  kind: 'PodSecurityConfiguration',
  ...fields,
});
describe('the file of --admission-control-config-file', () => {
  it.each([
    [`apiserver.config.${domain}/v1`],
    [`apiserver.config.${domain}/v1alpha1`],
    [`apiserver.${domain}/v1alpha1`],
  ])('holds configurations of plugins, in %s', async (apiVersion) => {
    const configuration = podSecurity({ defaults: { enforce: 'baseline' } });
    expect(await read({ ...file({ name: 'PodSecurity', configuration }), apiVersion })).toMatchObject({
      PodSecurity: { defaults: { enforce: 'baseline' } },
    });
  });

  it('names files, relative to its own folder', async () => {
    write('security.yaml', podSecurity({ exemptions: { usernames: ['a'] } }));
    for (const path of ['security.yaml', join(folder, 'security.yaml')]) {
      expect(await read(file({ name: 'PodSecurity', path }))).toMatchObject({
        PodSecurity: { exemptions: { usernames: ['a'] } },
      });
    }
  });

  it('may be JSON; a nested configuration comes before a path', async () => {
    const configuration = podSecurity({ defaults: { warn: 'restricted' } });
    expect(await read(JSON.stringify(file({ name: 'PodSecurity', path: 'absent', configuration })))).toMatchObject({
      PodSecurity: { defaults: { warn: 'restricted' } },
    });
  });

  it('may be empty, or name plugins without a configuration', async () => {
    expect(await read(file())).toEqual({});
    expect(await read(file({ name: 'AlwaysAdmit' }, { name: 'PodSecurity', path: '', configuration: null }))).toEqual(
      {},
    );
  });

  it('may be the configuration of ImagePolicyWebhook and PodNodeSelector themselves', async () => {
    const unversioned = { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b', n: 'c=d' } };
    expect(await read(unversioned, ['PodNodeSelector'])).toEqual({ PodNodeSelector: unversioned });
    const both = { ...unversioned, imagePolicy: { kubeConfigFile: 'x' } };
    expect(await read(both, ['PodNodeSelector'])).toEqual({ PodNodeSelector: both });
    expect(warnings).toEqual([
      'the configuration of the admission plugin ImagePolicyWebhook has no effect: the plugin is off',
    ]);
  });

  it('has no effect for plugins that are off', async () => {
    expect(await read(file({ name: 'PodNodeSelector', path: 'absent' }))).toEqual({});
    expect(warnings).toEqual([
      'the configuration of the admission plugin PodNodeSelector has no effect: the plugin is off',
    ]);
  });

  it('is not needed', async () => {
    const settings = { admissionControlConfigFile: undefined, enableAdmissionPlugins: [], disableAdmissionPlugins: [] };
    expect((await readAdmission(settings, namesFor(domain), { warn: () => {} })).configurations).toEqual({});
  });
});

describe('a start error names', () => {
  const nested = (name: string, configuration: object) => file({ name, configuration });
  it.each<[string, object | string, string, string[]?]>([
    [
      'a plugin that does not exist',
      file({ name: 'PodSecurty' }),
      ': plugins[0].name: "PodSecurty" is not an admission plugin; did you mean "PodSecurity"?',
    ],
    [
      'a plugin that has no configuration',
      file({ name: 'AlwaysPullImages', path: 'x' }),
      ': plugins[0]: the admission plugin AlwaysPullImages has no configuration',
    ],
    [
      'a second configuration',
      file({ name: 'PodSecurity', configuration: podSecurity({}) }, { name: 'PodSecurity', path: 'x' }),
      ': plugins[1].name: PodSecurity has a configuration already',
    ],
    ['an unknown field', { ...file(), plugin: [] }, ': unknown field "plugin"'],
    [
      'a duplicate field',
      'kind: AdmissionConfiguration\nkind: AdmissionConfiguration\n',
      ': yaml: unmarshal errors:\n  line 2: key "kind" already set in map',
    ],
    [
      'a value of the wrong type',
      { ...file(), plugins: [{ name: 1 }] },
      ': json: cannot unmarshal number into Go struct field AdmissionPluginConfiguration.plugins.name of type string',
    ],
    [
      'another kind',
      { ...file(), kind: 'Config' },
      `: apiVersion and kind: "Config" of "apiserver.config.${domain}/v1" must be one of AdmissionConfiguration of apiserver.config.${domain}/v1, `,
    ],
    ['no version', { plugins: [] }, ': apiVersion and kind: "" of "" must be one of'],
    ['text', 'hello', ': json: cannot unmarshal string into Go value of type v1.AdmissionConfiguration'],
    [
      'an unknown field of a configuration',
      nested('PodSecurity', podSecurity({ defaults: { enforced: 'x' } })),
      ': plugins[0].configuration: unknown field "defaults.enforced"',
    ],
    [
      'the version of a configuration',
      nested('PodSecurity', { ...podSecurity({}), apiVersion: 'v2' }),
      ': plugins[0].configuration: apiVersion and kind: "PodSecurityConfiguration" of "v2" must be one of PodSecurityConfiguration of pod-security.admission.config.k8s.io/v1, ',
    ],
    [
      'a level',
      nested('PodSecurity', podSecurity({ defaults: { audit: 'x', 'audit-version': '1' } })),
      ': plugins[0].configuration: defaults.audit: Invalid value: "x": must be one of privileged, baseline, restricted; defaults.audit-version: Invalid value: "1": must be "latest" or "v1.x"',
    ],
    [
      'an exemption',
      nested(
        'PodSecurity',
        podSecurity({ exemptions: { usernames: ['', 'a', 'a'], namespaces: ['A'], runtimeClasses: ['-'] } }),
      ),
      'exemptions.usernames[2]: Duplicate value: "a"',
    ],
    [
      'a toleration',
      nested('PodTolerationRestriction', {
        apiVersion: `podtolerationrestriction.admission.${domain}/v1alpha1`,
        kind: 'Configuration',
        default: [{ operator: 'Equal' }],
      }),
      'default[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty',
      ['PodTolerationRestriction'],
    ],
    [
      'a limited resource',
      nested('ResourceQuota', {
        apiVersion: `apiserver.config.${domain}/v1`,
        kind: 'ResourceQuotaConfiguration',
        limitedResources: [{}],
      }),
      'limitedResources[0].resource: Required value',
    ],
    [
      'a selector',
      { podNodeSelectorPluginConfig: { n: 'a' } },
      ': podNodeSelectorPluginConfig.n: Invalid value: "a": must be labels such as a=1,b=2',
      ['PodNodeSelector'],
    ],
    [
      'a file that is missing',
      file({ name: 'PodSecurity', path: 'absent' }),
      '/absent" cannot be read: there is no such file',
    ],
  ])('%s', async (_, content, message, enabled = []) => {
    const failure = read(content, enabled);
    await expect(failure).rejects.toThrow(`--admission-control-config-file="${join(folder, 'admission.yaml')}"`);
    await expect(failure).rejects.toThrow(message);
  });

  it('the file of a configuration', async () => {
    const path = write('security.yaml', 'apiVersion: v1\nkind: Pod\n');
    await expect(read(file({ name: 'PodSecurity', path: 'security.yaml' }))).rejects.toThrow(
      `: plugins[0].path=${JSON.stringify(path)}: apiVersion and kind: "Pod" of "v1" must be`,
    );
  });
});

it('names the kubeconfigs with the credentials for webhooks', async () => {
  const users = [{ name: '*', user: { token: 't' } }];
  const kubeConfigFile = write('users.kubeconfig', { kind: 'Config', users });
  const configure = (name: string, path: string) => {
    const apiVersion = `apiserver.config.${domain}/v1`;
    const configuration = { apiVersion, kind: 'WebhookAdmissionConfiguration', kubeConfigFile: path };
    const admissionControlConfigFile = write('admission.yaml', file({ name, configuration }));
    const settings = { admissionControlConfigFile, enableAdmissionPlugins: [], disableAdmissionPlugins: [] };
    return readAdmission(settings, namesFor(domain), { warn: () => {} });
  };
  const { credentials } = await configure('MutatingAdmissionWebhook', kubeConfigFile);
  expect(await credentials.MutatingAdmissionWebhook?.userFor('a', '443')?.authorization?.()).toBe('Bearer t');
  expect(credentials.ValidatingAdmissionWebhook).toBeUndefined();
  await expect(configure('ValidatingAdmissionWebhook', '/absent')).rejects.toThrow(
    'kubeConfigFile of ValidatingAdmissionWebhook="/absent" cannot be read: there is no such file',
  );
  await expect(configure('ValidatingAdmissionWebhook', 'relative')).rejects.toThrow(
    'plugins[0].configuration: kubeConfigFile: Invalid value: "relative": must be an absolute file path',
  );
});

it('configures the plugins of a server', async () => {
  const configuration = podSecurity({ defaults: { enforce: 'baseline' }, exemptions: { namespaces: ['free'] } });
  const path = write('admission.yaml', file({ name: 'PodSecurity', configuration }));
  const server = await createServer({
    apiDomain: domain,
    admissionControlConfigFile: path,
    disableAdmissionPlugins: ['ServiceAccount'],
  });
  try {
    const place = { apiVersion: 'v1', resource: 'namespaces' };
    for (const name of ['free', 'held']) {
      await server.client.create(place, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    const pod = (namespace: string) =>
      server.client.create<ApiObject>(
        { apiVersion: 'v1', resource: 'pods', namespace },
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'p' },
          spec: { hostPID: true, containers: [{ name: 'c', image: 'i' }] },
        },
      );
    expect((await pod('free')).metadata.name).toBe('p');
    await expect(pod('held')).rejects.toMatchObject({
      code: 403,
      message: 'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)',
    });
  } finally {
    await server.close();
  }
});

it('has images reviewed by the webhook of a kubeconfig', async () => {
  const down = { value: false };
  const hook = await startHook(({ review }) => {
    if (down.value) return { status: 503, text: 'down' };
    const { containers } = (review as { spec: { containers: { image: string }[] } }).spec;
    const status = { allowed: containers.every(({ image }) => image !== 'bad'), reason: 'bad image' };
    return { kind: 'ImageReview', apiVersion: 'imagepolicy.k8s.io/v1alpha1', status };
  });
  const kubeConfigFile = write('images.kubeconfig', {
    kind: 'Config',
    clusters: [{ name: 'h', cluster: { server: `${hook.url}/images`, 'certificate-authority-data': hook.caBundle } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'c', context: { cluster: 'h', user: 'u' } }],
    'current-context': 'c',
  });
  const server = await createServer({
    apiDomain: domain,
    admissionControlConfigFile: write('admission.yaml', { imagePolicy: { kubeConfigFile, defaultAllow: true } }),
    enableAdmissionPlugins: ['ImagePolicyWebhook'],
    disableAdmissionPlugins: ['ServiceAccount'],
  });
  try {
    const pod = (name: string, image: string) =>
      server.client.create<ApiObject>(
        { apiVersion: 'v1', resource: 'pods', namespace: 'default' },
        { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'c', image }] } },
      );
    expect((await pod('a', 'good')).metadata.annotations).toBeUndefined();
    expect(hook.calls).toMatchObject([{ url: '/images?timeout=30s', authorization: 'Bearer t' }]);
    await expect(pod('b', 'bad')).rejects.toMatchObject({
      code: 403,
      message: 'pods "b" is forbidden: image policy webhook backend denied one or more images: bad image',
    });
    down.value = true;
    await pod('c', 'other');
    const place = { apiVersion: 'v1', resource: 'pods', namespace: 'default', name: 'c' };
    expect((await server.client.get<ApiObject>(place)).metadata.annotations).toEqual({
      'alpha.image-policy.k8s.io/failed-open': 'true',
    });
  } finally {
    await server.close();
    await hook.close();
  }
});

it('needs configurations of some plugins', async () => {
  for (const name of ['EventRateLimit', 'ImagePolicyWebhook']) {
    await expect(read(file(), [name])).rejects.toThrow(
      `the admission plugin ${name} needs a configuration in the file of --admission-control-config-file`,
    );
  }
});

it.each<[string, object[], string]>([
  ['no limits', [], 'limits: Invalid value: []: must not be empty'],
  [
    'an unknown type',
    [{ type: 'Pod', qps: 1, burst: 1 }],
    'limits[0].type: Unsupported value: "Pod": supported values: "Server", "Namespace", "User", "SourceAndObject"',
  ],
  [
    'no burst and rate',
    [{ type: 'Server' }],
    'limits[0].burst: Invalid value: 0: must be positive; limits[0].qps: Invalid value: 0: must be positive',
  ],
  [
    'a cache of negative size',
    [{ type: 'User', qps: 1, burst: 1, cacheSize: -1 }],
    'limits[0].cacheSize: Invalid value: -1: must not be negative',
  ],
])('refuses limits of events with %s', async (_, limits, message) => {
  const configuration = { apiVersion: `eventratelimit.admission.${domain}/v1alpha1`, kind: 'Configuration', limits };
  await expect(read(file({ name: 'EventRateLimit', configuration }), ['EventRateLimit'])).rejects.toThrow(message);
});
