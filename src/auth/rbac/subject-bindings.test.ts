import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Binding, type RoleSlot, SubjectBindings } from './subject-bindings.ts';

const roles = ['one', 'two', 'three'].map(
  (name): RoleSlot => ({ kind: 'Role', name, supported: true, compiled: undefined, bindings: 0 }),
);
const namespaces = ['', 'a', 'b'];

/** Bindings of each role in each namespace, several of each. */
const bindings = namespaces.flatMap((namespace) =>
  roles.flatMap((role) =>
    [0, 1, 2].map(
      (i): Binding => ({
        namespace,
        name: `${role.name}-${i}`,
        roleRef: { kind: 'Role', name: role.name },
        subjects: [],
        role,
      }),
    ),
  ),
);

it('a subject has the roles of its bindings in a namespace, each once, however many there are', () => {
  const change = fc.record({ adds: fc.boolean(), which: fc.nat(bindings.length - 1) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
      const index = new SubjectBindings();
      const expected = new Set<Binding>();
      for (const { adds, which } of changes) {
        const binding = bindings[which] as Binding;
        if (adds) {
          index.add('jane', binding);
          expected.add(binding);
        } else {
          index.delete('jane', binding);
          expected.delete(binding);
        }
        for (const namespace of namespaces) {
          const own = [...expected].filter((one) => one.namespace === namespace);
          const found = [...(index.of('jane', namespace) ?? [])];
          expect(found.map(({ role }) => role.name).sort()).toEqual(
            [...new Set(own.map(({ role }) => role.name))].sort(),
          );
          for (const first of found) expect(own.find(({ role }) => role === first.role)).toBe(first);
        }
        expect(index.size).toBe(expected.size === 0 ? 0 : 1);
      }
      expect(index.of('tom', '')).toBeUndefined();
    }),
    { numRuns: 200, seed: 1 },
  );
});
