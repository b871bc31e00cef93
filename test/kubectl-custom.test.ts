import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Kubectl, startKubectl } from './support/kubectl.ts';
import { hasKubectl } from './support/requirements.ts';

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.ref.example.com }
spec:
  group: ref.example.com
  scope: Namespaced
  names: { plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gad], categories: [refs] }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {}, scale: { specReplicasPath: .spec.size, statusReplicasPath: .status.replicas } }
    additionalPrinterColumns: [{ name: Size, type: integer, jsonPath: .spec.size }]
    schema:
      openAPIV3Schema:
        type: object
        description: A gadget of the tests.
        properties:
          spec:
            type: object
            properties:
              size: { type: integer, description: How large it is. }
              color: { type: string, enum: [red, blue], default: red }
          status: { type: object, properties: { replicas: { type: integer } } }
`;

const gadget = (size: number) => `apiVersion: ref.example.com/v1
kind: Gadget
metadata: { name: one }
spec: { size: ${size} }
`;

// A custom resource as its users meet it: defined, discovered, explained, applied, scaled, edited, removed.
describe.skipIf(!hasKubectl())('kubectl with custom resources', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    kubectl = await startKubectl();
    kubectl.file('definition.yaml', definition);
    await kubectl.run('apply', '-f', 'definition.yaml');
    await kubectl.run('wait', '--for=condition=Established', 'crd/gadgets.ref.example.com', '--timeout=60s');
  });
  afterAll(() => kubectl.server.stop());

  it('finds them by their names and explains them', async () => {
    expect(await kubectl.run('api-resources', '--api-group=ref.example.com')).toMatch(
      /^gadgets +gad +ref\.example\.com\/v1 +true +Gadget$/m,
    );
    const text = await kubectl.run('explain', 'gadget.spec');
    expect(text).toContain('KIND:       Gadget');
    expect(text).toMatch(/size\t<integer>\n {4}How large it is\./);
    expect(await kubectl.run('explain', 'gad')).toContain('A gadget of the tests.');
  });

  it('applies, shows, scales, patches and deletes their objects', async () => {
    kubectl.file('one.yaml', gadget(1));
    expect(await kubectl.run('apply', '-f', 'one.yaml')).toBe('gadget.ref.example.com/one created\n');
    expect(await kubectl.run('get', 'gad')).toMatch(/^NAME +SIZE\none +1\n$/);
    expect(await kubectl.run('get', 'refs')).toContain('one');
    kubectl.file('one.yaml', gadget(2));
    expect(await kubectl.run('apply', '-f', 'one.yaml')).toBe('gadget.ref.example.com/one configured\n');
    expect(await kubectl.run('apply', '-f', 'one.yaml')).toBe('gadget.ref.example.com/one unchanged\n');
    await kubectl.run('scale', 'gadget/one', '--replicas=5');
    expect(await kubectl.read('gadget/one', '{.spec.size} {.spec.color}')).toBe('5 red');
    await kubectl.run('patch', 'gad', 'one', '--type=merge', '-p', '{"spec":{"color":"blue"}}');
    await kubectl.run('label', 'gadget', 'one', 'a=b');
    expect(await kubectl.run('get', 'gadgets', '-l', 'a=b', '-o', 'name')).toBe('gadget.ref.example.com/one\n');
    expect(await kubectl.fails('patch', 'gad', 'one', '--type=merge', '-p', '{"spec":{"color":"green"}}')).toContain(
      'Unsupported value: "green"',
    );
    kubectl.file('one.yaml', gadget(3));
    const taken = await kubectl.fails('apply', '--server-side', '-f', 'one.yaml');
    expect(taken).toContain('.spec.size');
    await kubectl.run('apply', '--server-side', '--force-conflicts', '-f', 'one.yaml');
    expect(await kubectl.run('describe', 'gadget', 'one')).toMatch(/Size: +3/);
    expect(await kubectl.run('delete', 'gadget', 'one')).toContain('deleted');
  });

  it('removes them with their objects', async () => {
    kubectl.file('one.yaml', gadget(1));
    await kubectl.run('create', '-f', 'one.yaml');
    expect(await kubectl.run('delete', 'crd', 'gadgets.ref.example.com')).toContain('deleted');
    expect(await kubectl.fails('get', 'gadgets')).toContain('the server could not find the requested resource');
    await kubectl.run('apply', '-f', 'definition.yaml');
    expect(await kubectl.warns('get', 'gadgets')).toContain('No resources found');
  });
});
