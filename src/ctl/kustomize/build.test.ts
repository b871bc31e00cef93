import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../meta/index.ts';
import { builtinResources } from '../../resources/index.ts';
import { foldedYaml } from '../output/yaml.ts';
import { buildKustomization } from './build.ts';
import { splitPath } from './field-path.ts';
import { defaultFields } from './fields.ts';
import { updateReferences } from './references.ts';
import { clusterScoped, type Gvk, Resource } from './resource.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

interface Files {
  readonly [path: string]: string;
}

const warnings: string[] = [];

/** Builds the files below a new folder; `folder` is the one to begin with. */
async function build(files: Files, { folder = '.', isUnrestricted = false } = {}): Promise<JsonObject[]> {
  const root = mkdtempSync(join(tmpdir(), 'kustomize-'));
  folders.push(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const io = {
    env: {},
    folder: root,
    signal: new AbortController().signal,
    stderr: { hasColours: false, write: (text: string | Uint8Array) => warnings.push(text.toString()) },
  };
  return buildKustomization(folder, io, { isUnrestricted });
}

const yaml = async (...args: Parameters<typeof build>): Promise<string> =>
  (await build(...args)).map((object) => foldedYaml(object)).join('---\n');

/** The message of a failed build, with the folder left out. */
const fault = (files: Files, folder = '.'): Promise<string> =>
  build(files, { folder }).then(
    () => 'accepted',
    (error: Error) => error.message.replaceAll(folders.at(-1) ?? '', ''),
  );

const configMap = (name: string, rest = '') => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${rest}`;

describe('a kustomization', () => {
  it('prints what kubectl prints, with the hashes of the same content', async () => {
    // Recorded from kubectl 1.33.1.
    expect(
      await yaml({
        'pod.yaml':
          'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {volumes: [{configMap: {name: settings}}]}\n',
        'kustomization.yaml': `
resources: [pod.yaml]
namePrefix: my-
labels: [{pairs: {team: blue}}]
configMapGenerator: [{name: settings, literals: [colour=green]}]
secretGenerator: [{name: login, literals: [password=secret]}]
`,
      }),
    ).toBe(`apiVersion: v1
data:
  colour: green
kind: ConfigMap
metadata:
  labels:
    team: blue
  name: my-settings-f2fg2f8dc4
---
apiVersion: v1
data:
  password: c2VjcmV0
kind: Secret
metadata:
  labels:
    team: blue
  name: my-login-m4d885dchh
type: Opaque
---
apiVersion: v1
kind: Pod
metadata:
  labels:
    team: blue
  name: my-a
spec:
  volumes:
  - configMap:
      name: my-settings-f2fg2f8dc4
`);
  });

  it('takes keys such as __proto__ as data', async () => {
    const [object] = await build({
      'a.yaml': configMap('a', 'data: {__proto__: "1"}\n'),
      'kustomization.yaml': `
resources: [a.yaml]
commonAnnotations: {constructor: b}
patches: [{patch: '{kind: ConfigMap, metadata: {name: a}, data: {__proto__: "2"}}', target: {kind: ConfigMap}}]
`,
    });
    expect(JSON.stringify(object)).toBe(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"constructor":"b"}},"data":{"__proto__":"2"}}',
    );
    expect(({} as { [key: string]: unknown })['2']).toBeUndefined();
  });

  it('knows the groups of both API domains', async () => {
    const [binding] = await build({
      'a.yaml': `
apiVersion: rbac.authorization.orch.io/v1
kind: ClusterRole
metadata: {name: reader}
---
apiVersion: rbac.authorization.orch.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.orch.io, kind: ClusterRole, name: reader}
subjects: []
`,
      'kustomization.yaml':
        'resources: [a.yaml]\nnamePrefix: my-\nnamespace: team\nsortOptions: {order: legacy, legacySortOptions: {orderFirst: [ClusterRoleBinding]}}\n',
    });
    expect(binding).toMatchObject({ metadata: { name: 'my-reader' }, roleRef: { name: 'my-reader' } });
    expect(binding).not.toHaveProperty('metadata.namespace');
  });

  it('merges ports by number and protocol, where an absent protocol is each of them', async () => {
    const [service] = await build({
      'a.yaml':
        'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 53, protocol: UDP}, {port: 80}]}\n',
      'kustomization.yaml': `
resources: [a.yaml]
patches: [{patch: '{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80, protocol: TCP, name: http}, {port: 53, protocol: TCP}]}}'}]
`,
    });
    expect(service?.['spec']).toEqual({
      ports: [
        { port: 53, protocol: 'TCP' },
        { port: 53, protocol: 'UDP' },
        { port: 80, protocol: 'TCP', name: 'http' },
      ],
    });
  });

  it('reads files of URLs, and says that repositories are not fetched', async () => {
    const server = createServer(({ url }, response) => {
      response.writeHead(url === '/a.yaml' ? 200 : 404).end(configMap('remote'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const [object] = await build({ 'kustomization.yaml': `resources: ["${url}/a.yaml"]\n` });
      expect(object?.['metadata']).toEqual({ name: 'remote' });
      expect(await fault({ 'kustomization.yaml': `resources: ["${url}/b.yaml"]\n` })).toContain('server reported 404');
      expect(await fault({ 'kustomization.yaml': `resources: ["${url}/team/app.git"]\n` })).toContain(
        'app.git" is a git repository: clone it, and name its folder instead',
      );
    } finally {
      server.close();
    }
  });

  it('warns of deprecated fields', async () => {
    warnings.length = 0;
    await build({ 'a.yaml': configMap('a'), 'kustomization.yaml': 'bases: [a.yaml]\ncommonLabels: {a: b}\n' });
    expect(warnings).toEqual([
      "# Warning: 'bases' is deprecated. Please use 'resources' instead.\n",
      "# Warning: 'commonLabels' is deprecated. Please use 'labels' instead.\n",
    ]);
  });

  it('reads files outside of its folder only when that is allowed', async () => {
    const files = { 'a.yaml': configMap('a'), 'in/kustomization.yaml': 'resources: [../a.yaml]\n' };
    expect(await fault(files, 'in')).toMatch(
      /^\/in\/kustomization.yaml: security; file '\/a.yaml' is not in or below '\/in'/,
    );
    expect(await build(files, { folder: 'in', isUnrestricted: true })).toHaveLength(1);
  });
});

describe('the tables of built-in kinds', () => {
  const { nameReference } = defaultFields;
  const fields = nameReference.flatMap(({ fieldSpecs = [], ...target }) =>
    fieldSpecs.map((spec) => ({ target, spec })),
  );

  it('update a changed name in every field that may hold it', () => {
    expect(fields.length).toBeGreaterThan(100);
    for (const { target, spec } of fields) {
      const named = new Resource(objectOf(target, 'before'));
      named.remember();
      named.setMetadata('name', 'after');
      const referrer = new Resource(objectOf(spec, 'referrer'));
      // Fields that end at an object have the name in it.
      const isObject = /(?:subjects|clientConfig\/service)$/.test(spec.path ?? '');
      const path = [...splitPath(spec.path ?? '', '/'), ...(isObject ? ['name'] : [])];
      put(referrer.object, path, 'before');
      updateReferences([referrer, named], nameReference);
      const found = path.reduce<Json | undefined>((value, part) => (value as JsonObject)[part], referrer.object);
      expect({ target, spec, found }).toEqual({ target, spec, found: 'after' });
    }
  });

  it('name the cluster-scoped kinds that the server has', () => {
    const expected = new Set(
      builtinResources
        .filter(({ namespaced, verbs }) => !namespaced && (verbs ?? []).length !== 1)
        .map(({ group, kind }) => `${group}/${kind}`),
    );
    const listed = Object.entries(clusterScoped).flatMap(([group, kinds]) => kinds.map((kind) => `${group}/${kind}`));
    expect([...expected].filter((kind) => !listed.includes(kind) && !/Review|Rules/.test(kind))).toEqual([]);
    expect(listed.filter((kind) => !expected.has(kind))).toEqual(['policy/PodSecurityPolicy']);
  });
});

const objectOf = ({ group = '', version = 'v1', kind = '' }: Gvk, name: string): JsonObject => ({
  apiVersion: group === '' ? version : `${group}/${version}`,
  kind,
  metadata: { name },
});

function put(object: JsonObject, [key = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) object[key] = value;
  else {
    object[key] ??= {};
    put(object[key] as JsonObject, rest, value);
  }
}

describe('a fault', () => {
  const one = { 'a.yaml': configMap('a') };
  const cases: readonly [title: string, files: Files, message: string][] = [
    [
      'an unknown field',
      { ...one, 'kustomization.yaml': 'resource: [a.yaml]\n' },
      '/kustomization.yaml: unknown field "resource"',
    ],
    [
      'an unknown field of a list',
      { ...one, 'kustomization.yaml': 'images: [{nam: a}]\n' },
      '/kustomization.yaml: unknown field "images[0].nam"',
    ],
    [
      'a plugin',
      { ...one, 'kustomization.yaml': 'resources: [a.yaml]\ntransformers: [a.yaml]\n' },
      "/kustomization.yaml: the field 'transformers' is not supported: use the fields of the kustomization, such as 'labels', 'patches' and 'replacements'",
    ],
    [
      'a chart',
      { 'kustomization.yaml': 'helmCharts: [{name: a}]\n' },
      "/kustomization.yaml: the field 'helmCharts' is not supported: run 'helm template', and list its output in 'resources'",
    ],
    ['an empty file', { 'kustomization.yaml': 'kind: Kustomization\n' }, '/kustomization.yaml is empty'],
    ['no file', one, ' must have a file named kustomization.yaml or kustomization.yml or Kustomization'],
    [
      'two files',
      { 'kustomization.yaml': '', Kustomization: '' },
      ' has several kustomization files: kustomization.yaml, Kustomization',
    ],
    [
      'another kind',
      { 'kustomization.yaml': 'kind: Service\n' },
      '/kustomization.yaml: kind must be Kustomization or Component',
    ],
    [
      'another version',
      { 'kustomization.yaml': 'apiVersion: v1\nnamePrefix: a\n' },
      '/kustomization.yaml: apiVersion of a Kustomization must be kustomize.config.k8s.io/v1beta1',
    ],
    [
      'an absent file',
      { 'kustomization.yaml': 'resources: [b.yaml]\n' },
      '/kustomization.yaml: "b.yaml" does not exist in ',
    ],
    [
      'a git repository',
      { 'kustomization.yaml': 'resources: ["github.com/a/b?ref=v1"]\n' },
      '/kustomization.yaml: "github.com/a/b?ref=v1" is a git repository: clone it, and name its folder instead',
    ],
    [
      'a component as a resource',
      { 'b/kustomization.yaml': 'kind: Component\nnamePrefix: a\n', 'kustomization.yaml': 'resources: [b]\n' },
      "/kustomization.yaml: resources: b is a component: list it in 'components'",
    ],
    [
      'an object without name',
      { 'a.yaml': 'kind: Pod\n', 'kustomization.yaml': 'resources: [a.yaml]\n' },
      '/kustomization.yaml: a.yaml: metadata.name of a Pod is missing',
    ],
    [
      'a generated object that exists',
      { 'kustomization.yaml': 'configMapGenerator: [{name: a}, {name: a}]\n' },
      '/kustomization.yaml: there is a v1 ConfigMap default/a already: set behavior to merge or replace',
    ],
    [
      'a failed JSON patch',
      {
        ...one,
        'kustomization.yaml':
          'resources: [a.yaml]\npatches: [{target: {kind: ConfigMap}, patch: "- {op: remove, path: /x}"}]\n',
      },
      "/kustomization.yaml: patches[0].patch, on v1 ConfigMap default/a: error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      'an unknown directive',
      {
        ...one,
        'kustomization.yaml':
          'resources: [a.yaml]\npatches: [{patch: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {$patch: drop}}"}]\n',
      },
      '/kustomization.yaml: $patch at data is drop: it must be merge, replace or delete',
    ],
    [
      'an invalid expression',
      {
        ...one,
        'kustomization.yaml':
          'resources: [a.yaml]\npatches: [{target: {name: "("}, patch: "- {op: remove, path: /x}"}]\n',
      },
      '/kustomization.yaml: target.name: error parsing regexp: missing closing ): `^(?:()$`',
    ],
    [
      'a replacement without field',
      {
        ...one,
        'kustomization.yaml':
          'resources: [a.yaml]\nreplacements: [{source: {name: a}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.x]}]}]\n',
      },
      '/kustomization.yaml: replacements: v1 ConfigMap default/a has no field data.x: set options.create to create it',
    ],
  ];
  it.each(cases)('of %s names the file, the field and the remedy', async (_title, files, message) => {
    expect(await fault(files)).toBe(message);
  });

  it('of a cycle names both folders', async () => {
    const files = { 'a/kustomization.yaml': 'resources: [../b]\n', 'b/kustomization.yaml': 'resources: [../a]\n' };
    expect(await fault(files, 'a')).toBe(
      '/b/kustomization.yaml: cycle detected: the folder "../a" of /b contains the kustomization of /a, which refers to it',
    );
  });
});

describe('the limits of a kustomization', () => {
  it('are 64 levels of folders', async () => {
    const path = (depth: number) => `${'d/'.repeat(depth)}kustomization.yaml`;
    const files = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [path(i), 'resources: [d]\n']));
    expect(await fault(files)).toMatch(/kustomizations refer to each other more than 64 levels deep$/);
  });

  it('are 10,000 objects', async () => {
    const objects = Array.from({ length: 10_001 }, (_, i) => configMap(`a${i}`)).join('---\n');
    expect(await fault({ 'a.yaml': objects, 'kustomization.yaml': 'resources: [a.yaml]\n' })).toBe(
      '/kustomization.yaml: resources: there are more than 10000 objects',
    );
  });

  it('are 256 MiB of texts that replacements copy, which double the object each time', async () => {
    const double = `- {source: {kind: ConfigMap, fieldPath: data}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.x, data.y], options: {create: true}}]}\n`;
    const kustomization = `resources: [a.yaml]\nreplacements:\n${double.repeat(60)}`;
    const files = {
      'a.yaml': configMap('a', `data: {x: ${'x'.repeat(1_000_000)}}\n`),
      'kustomization.yaml': kustomization,
    };
    expect(await fault(files)).toBe('/kustomization.yaml: the kustomization reads and copies more than 256 MiB');
  });

  it('are linear times for expressions of targets', async () => {
    const name = `${'a'.repeat(200)}b`;
    const [object] = await build({
      'a.yaml': configMap(name),
      'kustomization.yaml': `resources: [a.yaml]\npatches: [{target: {name: "(a+)+(a|aa)+$"}, patch: "- {op: remove, path: /kind}"}]\n`,
    });
    expect(object?.['kind']).toBe('ConfigMap');
  });
});
