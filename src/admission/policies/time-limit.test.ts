import { describe, expect, it } from 'vitest';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { createChain, runMutating, runValidating } from '../chain.ts';
import { fakeInitializer, requestFor, stored } from '../testing/initializer.ts';
import { mutatingPolicies } from './mutating-policies.ts';
import { validatingPolicies } from './validating-policies.ts';

const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };
const expressions = {
  validating: { validations: [{ expression: 'true' }] },
  mutating: {
    mutations: [
      { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "test", path: "/kind", value: "Any"}]' } },
    ],
  },
};

/** A request that began with the epoch passes a policy with ten parameters, where each turn takes `msEach` milliseconds. */
async function admit(type: keyof typeof expressions, failurePolicy: string, msEach: number): Promise<void> {
  const spec = {
    matchConstraints: { namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] },
    paramKind: { apiVersion: 'v1', kind: 'Setting' },
    failurePolicy,
    ...expressions[type],
  };
  const parameters = Array.from({ length: 10 }, (_, i) =>
    stored('settings', `s${i}`, { metadata: { namespace: 'n', labels: {} } }),
  );
  const paramRef = { selector: {}, parameterNotFoundAction: 'Deny' };
  const initializer = fakeInitializer([
    stored('namespaces', 'n', {}),
    stored(`${type}admissionpolicies`, 'p', { metadata: { uid: 'p', generation: 1 }, spec }),
    stored(`${type}admissionpolicybindings`, 'b', { spec: { policyName: 'p', paramRef, validationActions: ['Deny'] } }),
    ...parameters,
  ]);
  const turns = new EveryStep();
  const timed = { ...initializer, clock: { now: () => turns.count * msEach, monotonic: () => 0 } };
  const request = requestFor('configmaps', {}, { turns });
  if (type === 'mutating') await runMutating(createChain([mutatingPolicies(timed)]), request);
  else await runValidating(createChain([validatingPolicies(timed)]), request);
  expect(turns.count).toBeGreaterThan(10);
}

describe.each(['validating', 'mutating'] as const)('%s policies', (type) => {
  it.each(['Fail', 'Ignore'])(
    'have 34 seconds for a request, whatever failurePolicy %s says',
    async (failurePolicy) => {
      await admit(type, failurePolicy, 1);
      const message = 'Timeout: request did not complete within requested timeout - context deadline exceeded';
      await expect(admit(type, failurePolicy, 5_000)).rejects.toMatchObject({ code: 504, reason: 'Timeout', message });
    },
  );
});
