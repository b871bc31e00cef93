import type { Client } from '../client.ts';
import { asAdmin, hold, makeConfigMaps, type Scenario, succeeded } from './scenario.ts';

/** Policies that apply very often to one request. */

const admission = '/apis/admissionregistration.orch.io/v1';
const secrets = '/api/v1/namespaces/default/secrets';

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** A policy on secrets, bound to all config maps with a label so many times. Each of them makes a long message of its own. */
async function makePolicy(client: Client, parameters: number, bindings: number): Promise<void> {
  const message = 'x'.repeat(4_000);
  await makeConfigMaps(client, parameters, (i) => ({
    metadata: { name: `parameter${i}`, labels: { parameter: 'yes' } },
    data: { message },
  }));
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['CREATE'] };
  const policy = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: { resourceRules: [rule] },
    validations: [
      { expression: 'false', messageExpression: 'string(params.metadata.name) + string(params.data.message)' },
    ],
    auditAnnotations: [{ key: 'why', valueExpression: 'string(params.metadata.name) + string(params.data.message)' }],
  };
  const path = `${admission}/validatingadmissionpolicies`;
  succeeded('a policy', await client.http1(asAdmin('POST', path, { metadata: { name: 'p' }, spec: policy })));
  const selector = { matchLabels: { parameter: 'yes' } };
  const bound = times(bindings, (i) => {
    const paramRef = { selector, parameterNotFoundAction: 'Allow' };
    const spec = { policyName: 'p', paramRef, validationActions: ['Warn', 'Audit'] };
    return client.http2(
      asAdmin('POST', `${admission}/validatingadmissionpolicybindings`, { metadata: { name: `b${i}` }, spec }),
    );
  });
  for (const answer of await Promise.all(bound)) succeeded('a binding', answer);
}

const manyParameters: Scenario = {
  name: 'many-policy-parameters',
  fullOnly: true,
  title: 'policies that apply tens of thousands of times to a write take neither the memory nor the time of others',
  attack: async ({ client }) => {
    await makePolicy(client, 3_000, 30);
    const secret = asAdmin('POST', secrets, { metadata: { generateName: 's' } });
    const writes = times(60, () => client.http2(secret).catch(() => undefined));
    for (const answer of await Promise.all(writes)) {
      const status = answer?.status ?? 201;
      hold([201, 429, 504].includes(status), `a write is answered with ${status}`);
    }
  },
};

export const policyScenarios: readonly Scenario[] = [manyParameters];
