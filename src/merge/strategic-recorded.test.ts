import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { at, atOnce, type Json, type JsonObject, StatusError } from '../meta/index.ts';
import { compile } from '../schema/index.ts';
import { appsV1, coreV1 } from '../types/index.ts';
import { strategicMergePatch } from './strategic-patch.ts';
import { patchText } from './strategic-text.ts';
import { names } from './testing/strategic.ts';

// Every patch of the recorded exchanges `patches.strategic`, each on the state after the previous exchange.
interface Exchange {
  readonly step: string;
  readonly status: number;
  readonly body: JsonObject;
}
const file = new URL('../../test/reference/expected/patches.strategic.json', import.meta.url);
const exchanges = JSON.parse(readFileSync(file, 'utf8')) as Exchange[];

function recorded(step: string): Exchange {
  const found = exchanges.find((exchange) => exchange.step === step);
  if (found === undefined) throw new Error(`nothing recorded for ${step}`);
  return found;
}

/** The deployment before a step. */
function stateBefore(step: string): JsonObject {
  const { body } = exchanges
    .slice(0, exchanges.indexOf(recorded(step)))
    .findLast(({ status }) => status < 300) as Exchange;
  return { metadata: { name: 'd', labels: body.labels as Json }, spec: body.spec as Json };
}

const pod = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });
const patched = (object: Json, patch: Json) => atOnce(strategicMergePatch(object, patch, appsV1.Deployment, names));
/** As served: with the constant defaults of the type. */
const decoded = (object: Json) => compile(appsV1.Deployment, names).decode(object).value;

const newContainer = {
  imagePullPolicy: 'Always',
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};

const applied: { step: string; patch: JsonObject }[] = [
  { step: 'merge a container by name', patch: pod({ containers: [{ name: 'two', image: 'img:3' }] }) },
  {
    step: 'merge env by name',
    patch: pod({
      containers: [
        {
          name: 'one',
          env: [
            { name: 'B', value: '3' },
            { name: 'C', value: '4' },
          ],
        },
      ],
    }),
  },
  { step: '$patch delete', patch: pod({ containers: [{ name: 'two', $patch: 'delete' }] }) },
  {
    step: '$patch replace a list',
    patch: pod({ containers: [{ name: 'one', env: [{ $patch: 'replace' }, { name: 'Z', value: '0' }] }] }),
  },
  { step: 'atomic list replaced', patch: pod({ tolerations: [{ key: 'other', operator: 'Exists' }] }) },
  {
    step: '$setElementOrder',
    patch: pod({
      '$setElementOrder/containers': [{ name: 'new' }, { name: 'one' }],
      containers: [{ name: 'new', image: 'n' }],
    }),
  },
  {
    step: 'finalizers and labels',
    patch: { metadata: { finalizers: ['example.com/a'], labels: { a: null, n: '2' } } },
  },
  {
    step: '$deleteFromPrimitiveList',
    patch: { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } },
  },
  { step: 'retain keys of strategy', patch: { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } } },
];

const refused: { step: string; patch: JsonObject }[] = [
  {
    step: '$retainKeys',
    patch: pod({
      $retainKeys: ['emptyDir'],
      volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }],
    }),
  },
  { step: 'no merge key', patch: pod({ containers: [{ image: 'no-name' }] }) },
  { step: 'unknown directive', patch: pod({ containers: [{ name: 'one', $patch: 'explode' }] }) },
];

describe('recorded exchanges', () => {
  it.each(applied)('$step', ({ step, patch }) => {
    const after = decoded(patched(stateBefore(step), patch));
    const { labels, spec } = recorded(step).body;
    // Other defaults of a new container are set by the kind, not by the patch.
    for (const container of at(after, 'spec', 'template', 'spec', 'containers') as JsonObject[]) {
      if (container.name === 'new') Object.assign(container, newContainer);
    }
    expect({ labels: at(after, 'metadata', 'labels'), spec: after.spec }).toEqual({ labels, spec });
  });

  it.each(refused)('$step: refused', ({ step, patch }) => {
    const { status, body } = recorded(step);
    expect(refusal(stateBefore(step), patch)).toEqual(body);
    expect(body.code).toBe(status);
  });

  it('selector is immutable: the selectors are merged, and validation rejects the result', () => {
    const after = patched(stateBefore('selector is immutable'), { spec: { selector: { matchLabels: { app: 'y' } } } });
    const [cause] = at(recorded('selector is immutable').body, 'details', 'causes') as JsonObject[];
    expect(cause?.message).toBe(`Invalid value: ${JSON.stringify(at(after, 'spec', 'selector'))}: field is immutable`);
  });

  it('invalid replicas: the value is set, and validation rejects it', () => {
    const after = patched(stateBefore('invalid replicas'), { spec: { replicas: -1 } });
    const [cause] = at(recorded('invalid replicas').body, 'details', 'causes') as JsonObject[];
    expect(cause?.message).toContain(`Invalid value: ${JSON.stringify(at(after, 'spec', 'replicas'))}:`);
  });

  it('wrong type: the value is set, decoding rejects it, and the message shows the patch', () => {
    const patch = { spec: { replicas: 'three' } };
    expect(() => decoded(patched(stateBefore('wrong type'), patch))).toThrow(StatusError);
    const [cause] = at(recorded('wrong type').body, 'details', 'causes') as JsonObject[];
    expect(cause?.message).toBe(`Invalid value: "${patchText(patch)}": unrecognized type: int32`);
  });

  it('covers every recorded patch', () => {
    const others = ['defaults of a deployment', 'selector is immutable', 'invalid replicas', 'wrong type'];
    const known = [...applied, ...refused].map(({ step }) => step);
    expect([...known, ...others].toSorted()).toEqual(exchanges.map(({ step }) => step).toSorted());
  });

  // From `apply.deployment` (an update owns replicas) and `objects.fieldValidation` (strategic patch warn).
  it('patches of other exchanges', () => {
    expect(patched({ spec: { paused: true } }, { spec: { replicas: 5 } })).toEqual({
      spec: { paused: true, replicas: 5 },
    });
    const odd = atOnce(strategicMergePatch({ data: { a: '1' } }, { bogus: 1 }, coreV1.ConfigMap, names));
    expect(compile(coreV1.ConfigMap, names).decode(odd).unknown).toEqual([['bogus']]);
  });
});

describe('finalizers', () => {
  it('one is added and removed again', () => {
    const [added, removed] = applied.filter(({ step }) => /finalizers|Primitive/.test(step)).map(({ patch }) => patch);
    const with1 = patched({ metadata: { name: 'd' } }, added as JsonObject);
    expect(at(with1, 'metadata', 'finalizers')).toEqual(['example.com/a']);
    expect(at(patched(with1, removed as JsonObject), 'metadata', 'finalizers')).toEqual([]);
  });
});

describe('values in error messages', () => {
  it.each<{ text: string; value: Json }>([
    {
      text: 'map[a:map[] b:[1 x true <nil> 1152921504606846976]]',
      value: { b: [1, 'x', true, null, 2n ** 60n], a: {} },
    },
    { text: '[[] [[]]]', value: [[], [[]]] },
    { text: 'text', value: 'text' },
  ])('$text', ({ text, value }) => {
    expect(patchText(value)).toBe(text);
  });

  it('are cut after 4,096 characters', () => {
    const text = patchText(Array.from({ length: 100_000 }, () => 'abc'));
    expect(text).toBe(`[${'abc '.repeat(1024)}`.slice(0, 4096).concat('...'));
  });
});

function refusal(object: JsonObject, patch: JsonObject): Json {
  try {
    patched(object, patch);
  } catch (error) {
    if (error instanceof StatusError) return JSON.parse(JSON.stringify(error.toStatus())) as Json;
    throw error;
  }
  throw new Error('the patch applied');
}
