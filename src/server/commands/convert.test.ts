import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parseYaml, stringifyYaml } from '../../codec/index.ts';
import { valuesOf } from '../../codec/testing/random-values.ts';
import { at, bufferOf, isJsonObject, type JsonObject, namesFor, StatusError } from '../../meta/index.ts';
import { olderKinds } from '../../resources/older/index.ts';
import { type ConvertSettings, convertTable } from '../settings/convert-flags.ts';
import { readSettings } from '../settings/settings.ts';
import { convertFiles } from './convert.ts';
import { type ConversionWebhooks, customKinds } from './convert-custom.ts';
import { convertManifest, type KindVersion, loadKinds, storedOf } from './convert-manifest.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-convert-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Converts a text on standard input. */
function convert(text: string, outputVersion: string, settings: Partial<ConvertSettings> = {}) {
  const all = { ...convertTable.defaults, filename: ['-'], apiDomain: 'k8s.io', outputVersion, ...settings };
  return convertFiles(all, Readable.from([Buffer.from(text)]));
}

const ingress = `# Comments do not survive.
apiVersion: networking.k8s.io/v1beta1
kind: Ingress
metadata: {name: web}
spec:
  backend: {serviceName: a, servicePort: 80}
  rules:
  - host: h
    http: {paths: [{path: /, backend: {serviceName: b, servicePort: web}}]}
`;

const converted = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
spec:
  defaultBackend:
    service:
      name: a
      port:
        number: 80
  rules:
  - host: h
    http:
      paths:
      - backend:
          service:
            name: b
            port:
              name: web
        path: /
        pathType: ImplementationSpecific
`;

const pathTypeWarning = (file: string) =>
  `${file}: Ingress/web: spec.rules[].http.paths[].pathType: set to "ImplementationSpecific", the default of networking.k8s.io/v1beta1`;

const autoscaler = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web' },
  spec: {
    scaleTargetRef: { kind: 'Deployment', name: 'web' },
    maxReplicas: 3,
    behavior: { scaleDown: { stabilizationWindowSeconds: 9 } },
  },
};

describe('orch convert', () => {
  it('moves fields to their place in the other version, and writes only what that needs', async () => {
    const { text, warnings } = await convert(ingress, 'networking.k8s.io/v1');
    expect(text).toBe(converted);
    expect(warnings).toEqual([pathTypeWarning('standard input')]);
  });

  it('converts between groups that have the same objects', async () => {
    const old = ingress.replace('networking.k8s.io/v1beta1', 'extensions/v1beta1');
    expect((await convert(old, 'networking.k8s.io/v1')).text).toBe(converted);
    const { text } = await convert(converted, 'extensions/v1beta1');
    expect(parseYaml(Buffer.from(text)).value).toMatchObject({
      apiVersion: 'extensions/v1beta1',
      spec: { backend: { serviceName: 'a', servicePort: 80 } },
    });
  });

  it('preserves the order of documents, and skips empty ones', async () => {
    const named = (name: string) => ingress.replace('{name: web}', `{name: ${name}}`);
    const input = `---\n${named('z')}--- # next\n${named('a')}...\n---\n${named('m')}`;
    const { text } = await convert(input, 'networking.k8s.io/v1');
    expect([...text.matchAll(/^ {2}name: (.)$|^(---)$/gm)].map(([, name, mark]) => name ?? mark)).toEqual([
      ...['z', '---', 'a', '---', 'm'],
    ]);
  });

  it('converts the items of lists', async () => {
    const { apiVersion: _, kind: __, ...item } = parseYaml(Buffer.from(ingress)).value as JsonObject;
    const after = parseYaml(Buffer.from(converted)).value as JsonObject;
    const { apiVersion: ___, kind: ____, ...itemAfter } = after;
    const metadata = { resourceVersion: '7' };
    const typed = { apiVersion: 'networking.k8s.io/v1beta1', kind: 'IngressList', metadata, items: [item] };
    const list = { apiVersion: 'v1', kind: 'List', items: [parseYaml(Buffer.from(ingress)).value, typed] };
    const { text } = await convert(JSON.stringify(list), 'networking.k8s.io/v1', { output: 'json' });
    expect(JSON.parse(text)).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      items: [after, { apiVersion: 'networking.k8s.io/v1', kind: 'IngressList', metadata, items: [itemAfter] }],
    });
  });

  it('reads folders with their subfolders in the order of names', async () => {
    mkdirSync(join(folder, 'b'));
    writeFileSync(join(folder, 'b/one.yml'), ingress);
    writeFileSync(join(folder, 'c.json'), JSON.stringify(parseYaml(Buffer.from(ingress)).value));
    writeFileSync(join(folder, 'notes.txt'), 'not a manifest');
    const { text, warnings } = await convert('', 'networking.k8s.io/v1', { filename: [folder] });
    expect(text).toBe(`${converted}---\n${converted}`);
    expect(warnings).toEqual([pathTypeWarning(join(folder, 'b/one.yml')), pathTypeWarning(join(folder, 'c.json'))]);
  });

  it('prints JSON documents one after the other', async () => {
    const { text } = await convert(`${ingress}---\n${ingress}`, 'networking.k8s.io/v1', { output: 'json' });
    const document = `${JSON.stringify(parseYaml(Buffer.from(converted)).value, undefined, 2)}\n`;
    expect(text).toHaveLength(2 * document.length);
    expect(JSON.parse(text.slice(0, document.length))).toEqual(JSON.parse(document));
  });

  it.each([
    // Specification, "Removed API versions": the default of updateStrategy.type changed from OnDelete to RollingUpdate.
    ['extensions/v1beta1', 'apps/v1', 'OnDelete'],
    ['apps/v1', 'extensions/v1beta1', 'RollingUpdate'],
  ])('writes the defaults of %s that %s does not have', async (apiVersion, outputVersion, type) => {
    const metadata = { name: 'd', labels: { a: 'b' } };
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    const daemons = { apiVersion, kind: 'DaemonSet', metadata, spec };
    const { text, warnings } = await convert(JSON.stringify(daemons), outputVersion);
    const { spec: written } = parseYaml(Buffer.from(text)).value as typeof daemons;
    expect(written).toMatchObject({ ...spec, updateStrategy: { type } });
    expect(warnings.filter((warning) => warning.includes('updateStrategy'))).toEqual([
      expect.stringContaining(`the default of ${apiVersion}`),
    ]);
  });

  it('keeps what the other version lacks in an annotation, and restores it', async () => {
    const { text, warnings } = await convert(stringifyYaml(autoscaler), 'autoscaling/v2beta1');
    const older = parseYaml(Buffer.from(text)).value as typeof autoscaler;
    expect(older.spec).not.toHaveProperty('behavior');
    expect(Object.keys(older.metadata)).toEqual(['annotations', 'name']);
    expect(warnings).toEqual([
      'standard input: HorizontalPodAutoscaler/web: spec.behavior: kept in an annotation conversion.k8s.io/…, because autoscaling/v2beta1 has no such field or value',
    ]);
    const back = await convert(text, 'autoscaling/v2');
    expect(parseYaml(Buffer.from(back.text)).value).toMatchObject(autoscaler);
    expect(back.warnings).toEqual([]);
  });

  it.each([
    [
      'a version that the kind does not have',
      ingress,
      'apps/v1',
      /^standard input: Ingress\/web: apps\/v1 has no Ingress; it is in networking\.k8s\.io\/v1, networking\.k8s\.io\/v1beta1, extensions\/v1beta1$/,
    ],
    [
      'an unknown version',
      'kind: Ingress\napiVersion: networking.k8s.io/v7\n',
      'v1',
      /^standard input: Ingress\/without a name: networking\.k8s\.io\/v7 has no built-in kind "Ingress" in the API domain k8s\.io; it is in networking/,
    ],
    ['a misspelt kind', 'kind: Ingres\napiVersion: networking.k8s.io/v1\n', 'v1', /did you mean "Ingress"\?$/],
    [
      'no kind',
      'apiVersion: v1\n',
      'v1',
      /^standard input: an object\/without a name: it must have a kind and an apiVersion$/,
    ],
    ['a text', 'text\n', 'v1', /^standard input: a document is not an object$/],
    [
      'a value of the wrong type',
      ingress.replace('- host: h', '- host: [h]'),
      'networking.k8s.io/v1',
      /^standard input: Ingress\/web: .*host/,
    ],
    ['broken YAML', 'a: [', 'v1', /^standard input cannot be read: error converting YAML to JSON/],
    [
      'an unknown field',
      `${ingress}  colour: red\n`,
      'networking.k8s.io/v1',
      /^standard input: Ingress\/web: unknown field "spec\.colour"$/,
    ],
    [
      'a duplicate field',
      `${ingress}kind: Ingress\n`,
      'networking.k8s.io/v1',
      /^standard input: yaml: unmarshal errors:\n {2}line \d+: key "kind" already set in map$/,
    ],
  ])('refuses %s', async (_, text, outputVersion, message) => {
    await expect(convert(text, outputVersion)).rejects.toThrow(message);
  });

  it('reports the problems of all objects', async () => {
    const broken = ingress.replace('v1beta1', 'v0');
    await expect(convert(`${broken}---\n${broken}`, 'networking.k8s.io/v1')).rejects.toThrow(
      /v0 has no.*\norch: .*v0 has no/s,
    );
  });

  it('warns about unknown fields, or leaves them out silently, where it is told to', async () => {
    const text = `${ingress}  colour: red\n`;
    const warned = await convert(text, 'networking.k8s.io/v1', { validate: 'warn' });
    expect(warned.warnings).toContain('standard input: Ingress/web: unknown field "spec.colour"');
    expect(warned.text).toBe(converted);
    const silent = await convert(text, 'networking.k8s.io/v1', { validate: 'ignore' });
    expect(silent).toEqual({ text: converted, warnings: [pathTypeWarning('standard input')] });
  });

  it('reads the flags of other tools', async () => {
    const parse = (...argv: string[]) => readSettings(convertTable, { argv, env: {}, readConfig: async () => null });
    const settings = { ...convertTable.defaults, filename: ['a.yaml', '-'], outputVersion: 'apps/v1', output: 'json' };
    expect(await parse('-f', 'a.yaml', '-f=-', '--output-version', 'apps/v1', '-o', 'json')).toEqual({ settings });
    expect(await parse('--output-version=a/b/c')).toEqual({
      problems: [
        '--filename must name manifests, or be - for standard input',
        '--output-version must be a version, such as apps/v1',
      ],
    });
    expect(await parse('-x', 'a')).toMatchObject({
      problems: ['unknown flag "-x"', expect.anything(), expect.anything()],
    });
  });
});

/** A definition of wheels in two versions. */
const definition = (conversion: JsonObject): JsonObject => {
  const spokes = { type: 'integer' };
  const version = (name: string, properties: JsonObject, storage = false) => ({
    name,
    served: name !== 'v1alpha1',
    storage,
    schema: {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
    },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'wheels.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'wheels', kind: 'Wheel' },
      scope: 'Namespaced',
      conversion,
      versions: [
        version('v1alpha1', { spokes, color: { type: 'string', default: 'black' } }),
        version('v1', { spokes, rim: { type: 'string', default: 'steel' } }, true),
      ],
    },
  };
};

const webhookConversion = (clientConfig: JsonObject): JsonObject => ({
  strategy: 'Webhook',
  webhook: { conversionReviewVersions: ['v1'], clientConfig },
});

const wheel = { apiVersion: 'example.com/v1alpha1', kind: 'Wheel', metadata: { name: 'front' }, spec: { spokes: 36 } };

describe('a manifest of a custom kind', () => {
  const convertWheel = (conversion: JsonObject, manifest: JsonObject = wheel, to = 'example.com/v1') => {
    const path = join(folder, 'definition.yaml');
    writeFileSync(path, stringifyYaml(definition(conversion)));
    return convert(stringifyYaml(manifest), to, { definitions: [path] });
  };

  it('has the same fields in all versions without a webhook, and lacks those that the new version does not have', async () => {
    const { text, warnings } = await convertWheel({ strategy: 'None' });
    expect(parseYaml(Buffer.from(text)).value).toEqual({ ...wheel, apiVersion: 'example.com/v1' });
    expect(warnings).toEqual([
      'standard input: Wheel/front: spec.color: dropped, because example.com/v1 has no such field or value',
    ]);
  });

  it('is converted from and to a version that is not served, and in lists', async () => {
    const list = {
      apiVersion: 'example.com/v1',
      kind: 'WheelList',
      items: [{ metadata: { name: 'front' }, spec: { spokes: 36, rim: 'wood' } }],
    };
    const { text, warnings } = await convertWheel({ strategy: 'None' }, list, 'example.com/v1alpha1');
    expect(parseYaml(Buffer.from(text)).value).toEqual({
      ...list,
      apiVersion: 'example.com/v1alpha1',
      items: [{ metadata: { name: 'front' }, spec: { spokes: 36 } }],
    });
    expect(warnings).toEqual([expect.stringContaining('spec.rim: dropped')]);
  });

  it('is converted by the webhook of the definition', async () => {
    const url = 'https://localhost/convert';
    const postTo: ConversionWebhooks['postTo'] = (config, server) => async (body) => {
      expect([config.url, server]).toEqual([url, { server: 'https://server' }]);
      const { request } = JSON.parse(Buffer.from(bufferOf(body)).toString()) as {
        request: { uid: string; desiredAPIVersion: string; objects: (typeof wheel)[] };
      };
      const convertedObjects = request.objects.map(({ spec, ...object }) => {
        const { color, rim, ...rest } = spec as { spokes: number; color?: string; rim?: string };
        const named = color === undefined ? { color: rim } : { rim: color };
        return { ...object, apiVersion: request.desiredAPIVersion, spec: { ...rest, ...named } };
      });
      const response = { uid: request.uid, result: { status: 'Success' }, convertedObjects };
      const review = { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', response };
      return Buffer.from(JSON.stringify(review));
    };
    const source = {
      where: 'test',
      definition: definition(webhookConversion({ url })),
      server: { server: 'https://server' },
    };
    const custom = customKinds([source], { postTo, close: () => {} });
    const result = await convertManifest(await loadKinds(names, custom), wheel, 'example.com/v1');
    expect(result).toEqual({
      object: { ...wheel, apiVersion: 'example.com/v1', spec: { spokes: 36, rim: 'black' } },
      unknown: [],
      warnings: ['spec.color: set to "black", the default of example.com/v1alpha1'],
    });
  });

  it.each<[string, JsonObject, JsonObject, string, RegExp]>([
    [
      'a version that the kind does not have',
      { strategy: 'None' },
      wheel,
      'example.com/v2',
      /^standard input: Wheel\/front: example\.com\/v2 has no Wheel; it is in example\.com\/v1alpha1, example\.com\/v1$/,
    ],
    [
      'an unknown field',
      { strategy: 'None' },
      { ...wheel, spec: { tyre: 'x' } },
      'example.com/v1',
      /unknown field "spec\.tyre"$/,
    ],
    [
      'a webhook that is a service of no server',
      webhookConversion({ service: { namespace: 'wheels', name: 'converter' } }),
      wheel,
      'example.com/v1',
      /failed: the service wheels\/converter is reachable through its server only, which --definitions must name$/,
    ],
    [
      'a kind of no definition',
      { strategy: 'None' },
      { ...wheel, kind: 'Axle' },
      'example.com/v1',
      /has no built-in kind "Axle" in the API domain k8s\.io; the definition of a custom kind must be in --definitions$/,
    ],
  ])('is refused with %s', async (_, conversion, manifest, to, message) => {
    await expect(convertWheel(conversion, manifest, to)).rejects.toThrow(message);
  });
});

const names = namesFor('k8s.io');
const kinds = await loadKinds(names);
const olderTypes = new Set(olderKinds.flatMap(({ versions }) => versions.map(({ schema }) => schema)));
const isOlder = ({ declared }: KindVersion) => olderTypes.has(declared.schema);

const pairs = [...kinds.versions.values()].flatMap((versions) =>
  versions.flatMap((from) =>
    versions
      .filter((to) => to !== from && to.storage === from.storage && (isOlder(from) || isOlder(to)))
      .map((to) => [`${from.kind} of ${from.apiVersion}`, to.apiVersion, from] as const),
  ),
);

/** Sets what older versions would set by default, where the storage version requires or lacks it. */
function complete(object: JsonObject): void {
  object['metadata'] = { name: 'x', labels: { a: 'b' } };
  const { spec, status } = object;
  if (object['kind'] === 'CertificateSigningRequest') {
    object['spec'] = { ...(isJsonObject(spec) ? spec : {}), usages: ['any'] };
    const conditions = isJsonObject(status) ? status['conditions'] : [];
    for (const condition of (conditions ?? []) as JsonObject[]) condition['status'] ||= 'True';
  }
  const rollingUpdate = at(object, 'spec', 'strategy', 'rollingUpdate');
  if (isJsonObject(rollingUpdate)) Object.assign(rollingUpdate, { maxSurge: 2, maxUnavailable: 2 });
}

/** The result; undefined when the object is invalid. */
async function attempt<T>(convertOne: () => Promise<T>): Promise<T | undefined> {
  try {
    return await convertOne();
  } catch (error) {
    if (error instanceof StatusError && error.code === 422) return undefined;
    throw error;
  }
}

describe('a manifest', () => {
  it.each(pairs)('that is a %s survives the conversion to %s and back', async (_, to, from) => {
    await fc.assert(
      fc.asyncProperty(valuesOf(from.declared.schema, names), async (value) => {
        const { apiVersion, kind } = from;
        const sent: JsonObject = { ...(value as JsonObject), apiVersion, kind };
        complete(sent);
        const there = await attempt(() => convertManifest(kinds, sent, to));
        // The older version has a rule that the random object breaks.
        if (there === undefined) return;
        expect(there.object).toMatchObject({ apiVersion: to, kind, metadata: { name: 'x' } });
        if (there.warnings.some((warning) => warning.includes(': dropped'))) return;
        const back = (await convertManifest(kinds, there.object, apiVersion)).object;
        // Its annotations have no place for metrics that are invalid.
        if ([apiVersion, to].includes('autoscaling/v1')) return;
        expect(storedOf(from, back, names)).toEqual(storedOf(from, sent, names));
      }),
      { numRuns: 5 },
    );
  });

  it('can be of every older kind', () => {
    expect(new Set(pairs.map(([, , { declared }]) => declared.schema).filter((type) => olderTypes.has(type)))).toEqual(
      olderTypes,
    );
  });
});
