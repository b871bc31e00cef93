import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { apply, forceApply, run, type Step, set, update } from './testing/scenario.ts';
import { testScenarios } from './testing/test-scenarios.ts';

// Rule 9 of "Server-side apply rules": moving from client-side apply.

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const configuration = (body: JsonObject) =>
  `${JSON.stringify({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 't' }, ...body })}\n`;

/** Client-side apply: an update that sets the last-applied annotation. */
const clientApply = (body: JsonObject, annotated = configuration(body)): Step =>
  update('kubectl-client-side-apply', { ...body, metadata: { annotations: { [annotation]: annotated } } });
const annotationOf = (steps: Step[]) => run(steps).fixture.live?.metadata.annotations?.[annotation];

const two = { data: { a: '1', b: '2' } };
const annotations = `.metadata.annotations .metadata.annotations.${annotation}`;

testScenarios('rule 9: the first server-side apply of kubectl', [
  {
    name: 'takes a changed field without a conflict',
    steps: [clientApply(two), apply('kubectl', { data: { a: '2', b: '2' } })],
    managers: { kubectl: '.data.a .data.b', 'kubectl-client-side-apply (Update)': annotations },
  },
  {
    name: 'leaves fields that the manifest no longer has to the old entry',
    steps: [clientApply(two), apply('kubectl', { data: { a: '2' } })],
    managers: { kubectl: '.data.a', 'kubectl-client-side-apply (Update)': `.data .data.b ${annotations}` },
  },
  {
    name: 'conflicts under another field manager',
    steps: [clientApply(two), apply('other', { data: { a: '2' } })],
    conflicts: ['"kubectl-client-side-apply" using v1 .data.a'],
  },
  {
    name: 'conflicts over a field that another manager has changed since',
    steps: [
      clientApply(two),
      update('x', { data: { a: '9', b: '2' }, metadata: { annotations: { [annotation]: configuration(two) } } }),
      apply('kubectl', { data: { a: '2', b: '3' } }),
    ],
    conflicts: ['"x" using v1 .data.a'],
  },
  {
    name: 'conflicts over a field that is not in the annotation',
    steps: [clientApply(two, configuration({ data: { b: '2' } })), apply('kubectl', { data: { a: '2' } })],
    conflicts: ['"kubectl-client-side-apply" using v1 .data.a'],
  },
  {
    name: 'conflicts when the annotation is of another version',
    steps: [clientApply(two, JSON.stringify({ apiVersion: 'v0', ...two })), apply('kubectl', { data: { a: '2' } })],
    conflicts: ['"kubectl-client-side-apply" using v1 .data.a'],
  },
  {
    name: 'conflicts when the annotation nests deeper than any object',
    steps: [
      clientApply(
        two,
        configuration({ ...two, spec: { free: 0 } }).replace(
          '"free":0',
          `"free":${'{"a":'.repeat(2e4)}0${'}'.repeat(2e4)}`,
        ),
      ),
      apply('kubectl', { data: { a: '2' } }),
    ],
    conflicts: ['"kubectl-client-side-apply" using v1 .data.a'],
  },
  {
    name: 'conflicts when the annotation is not JSON',
    steps: [clientApply(two, '{'), apply('kubectl', { data: { a: '2' } })],
    conflicts: ['"kubectl-client-side-apply" using v1 .data.a'],
  },
  {
    name: 'conflicts when the annotation does not fit the schema',
    steps: [clientApply(two, configuration({ data: { a: 1 } })), apply('kubectl', { data: { a: '2' } })],
    conflicts: ['"kubectl-client-side-apply" using v1 .data.a'],
  },
  {
    name: 'conflicts without the annotation',
    steps: [update('kubectl-client-side-apply', two), apply('kubectl', { data: { a: '2' } })],
    conflicts: ['"kubectl-client-side-apply" using v1 .data.a'],
  },
  {
    name: 'may be forced',
    steps: [clientApply(two), forceApply('other', { data: { a: '2' } })],
    managers: { other: '.data.a', 'kubectl-client-side-apply (Update)': `.data .data.b ${annotations}` },
  },
]);

const spec = (values: JsonObject): JsonObject => ({ spec: values });
testScenarios('rule 9: after the migration, fields removed from the manifest are pruned', [
  {
    name: 'a value of a map',
    steps: [clientApply(two), apply('kubectl', two), apply('kubectl', { data: { a: '1' } })],
    managers: { kubectl: '.data.a', 'kubectl-client-side-apply (Update)': annotations },
  },
  {
    name: 'a field returns to its default',
    steps: [
      clientApply(spec({ replicas: 3, text: 'x' })),
      apply('kubectl', spec({ replicas: 3, text: 'x' })),
      apply('kubectl', spec({ text: 'x' })),
      set((fixture) => void delete fixture.live?.metadata.annotations),
    ],
    object: spec({ replicas: 1, text: 'x' }),
  },
  {
    name: 'an entry of a list, with the defaults in it',
    steps: [
      clientApply(spec({ containers: [{ name: 'a', ports: [{ port: 80 }] }, { name: 'b' }] })),
      apply('kubectl', spec({ containers: [{ name: 'a', ports: [{ port: 80 }] }, { name: 'b' }] })),
      apply('kubectl', spec({ containers: [{ name: 'b' }] })),
      set((fixture) => void delete fixture.live?.metadata.annotations),
    ],
    object: spec({ replicas: 1, containers: [{ name: 'b' }] }),
  },
  {
    name: 'a struct',
    steps: [
      clientApply(spec({ text: 'x', strategy: { type: 'a', max: 1 } })),
      apply('kubectl', spec({ text: 'x', strategy: { type: 'a', max: 1 } })),
      apply('kubectl', spec({ text: 'x' })),
      set((fixture) => void delete fixture.live?.metadata.annotations),
    ],
    object: spec({ replicas: 1, text: 'x' }),
  },
  {
    name: 'but not fields that another manager applies',
    steps: [clientApply(two), apply('kubectl', two), apply('other', two), apply('kubectl', { data: { a: '1' } })],
    managers: { kubectl: '.data.a', other: '.data.a .data.b', 'kubectl-client-side-apply (Update)': annotations },
  },
]);

describe('rule 9: the annotation', () => {
  it('is updated, with sorted keys', () => {
    expect(annotationOf([clientApply(two), apply('kubectl', { data: { z: '1', a: '2' } })])).toBe(
      '{"apiVersion":"v1","data":{"a":"2","z":"1"},"kind":"Thing","metadata":{"name":"t"}}\n',
    );
  });
  it('is safe inside HTML', () => {
    expect(annotationOf([clientApply(two), apply('kubectl', { data: { a: '<&>\u2028' } })])).toContain(
      '"\\u003c\\u0026\\u003e\\u2028"',
    );
  });
  it('does not contain itself', () => {
    const metadata = { annotations: { [annotation]: 'x', own: 'y' } };
    expect(annotationOf([clientApply(two), forceApply('kubectl', { metadata, data: { a: '1' } })])).toBe(
      '{"apiVersion":"v1","data":{"a":"1"},"kind":"Thing","metadata":{"annotations":{"own":"y"},"name":"t"}}\n',
    );
  });
  it('retains annotations that are empty without it', () => {
    const metadata = { annotations: { [annotation]: 'x' } };
    expect(annotationOf([clientApply(two), forceApply('kubectl', { metadata, data: { a: '1' } })])).toBe(
      '{"apiVersion":"v1","data":{"a":"1"},"kind":"Thing","metadata":{"annotations":{},"name":"t"}}\n',
    );
  });
  it('is not changed by other managers', () => {
    expect(annotationOf([clientApply(two), apply('other', { data: { c: '1' } })])).toBe(configuration(two));
  });
  it('is not added to an object without it', () => {
    expect(annotationOf([apply('kubectl', two)])).toBe(undefined);
  });
  it('is removed when it would exceed the limit', () => {
    const large = { data: { a: 'x'.repeat(256 * 1024) } };
    expect(annotationOf([clientApply({ data: { b: '1' } }), apply('kubectl', large)])).toBe(undefined);
  });
});
