import type { Client } from '../client.ts';
import { asAdmin, hold, makeConfigMaps, type Scenario, succeeded } from './scenario.ts';

/** Policies that apply very often to one request, and very many bindings. */

const admission = '/apis/admissionregistration.orch.io/v1';
const secrets = '/api/v1/namespaces/default/secrets';
const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['CREATE'] };

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** Makes config maps with a label, which are the parameters of policies. */
const makeParameters = (client: Client, count: number, text: string) =>
  makeConfigMaps(client, count, (i) => ({
    metadata: { name: `parameter${i}`, labels: { parameter: 'yes' } },
    data: { text },
  }));

async function makePolicy(client: Client, spec: object): Promise<void> {
  const policy = { metadata: { name: 'p' }, spec: { matchConstraints: { resourceRules: [rule] }, ...spec } };
  succeeded('a policy', await client.http1(asAdmin('POST', `${admission}/validatingadmissionpolicies`, policy)));
}

/** Binds the policy `count` times, twenty at once. */
async function bind(client: Client, count: number, spec: object): Promise<void> {
  const path = `${admission}/validatingadmissionpolicybindings`;
  for (let i = 0; i < count; i += 20) {
    const bindings = times(Math.min(20, count - i), (j) => ({
      metadata: { name: `b${i + j}` },
      spec: { policyName: 'p', validationActions: ['Warn', 'Audit'], ...spec },
    }));
    const answers = await Promise.all(bindings.map((binding) => client.http2(asAdmin('POST', path, binding))));
    for (const answer of answers) succeeded('a binding', answer);
  }
}

/** Writes secrets at once. A write whose time is up gets 504, and one for which there is no place 429. */
async function write(client: Client, count: number): Promise<void> {
  const secret = asAdmin('POST', secrets, { metadata: { generateName: 's' } });
  for (const answer of await Promise.all(times(count, () => client.http2(secret).catch(() => undefined)))) {
    const status = answer?.status ?? 201;
    hold([201, 429, 504].includes(status), `a write is answered with ${status}`);
  }
}

const selectsParameters = { selector: { matchLabels: { parameter: 'yes' } }, parameterNotFoundAction: 'Allow' };
const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };

const longMessages: Scenario = {
  name: 'many-policy-parameters',
  fullOnly: true,
  title: 'policies that apply tens of thousands of times to a write take neither the memory nor the time of others',
  attack: async ({ client }) => {
    await makeParameters(client, 3_000, 'x'.repeat(4_000));
    const message = 'string(params.metadata.name) + string(params.data.text)';
    await makePolicy(client, {
      paramKind,
      validations: [{ expression: 'false', messageExpression: message }],
      auditAnnotations: [{ key: 'why', valueExpression: message }],
    });
    await bind(client, 30, { paramRef: selectsParameters });
    await write(client, 60);
  },
};

const selectedParameters: Scenario = {
  name: 'selected-policy-parameters',
  fullOnly: true,
  title: 'a policy whose binding selects ten thousand parameters holds up nobody',
  attack: async ({ client }) => {
    await makeParameters(client, 10_000, 'x'.repeat(200));
    await makePolicy(client, { paramKind, validations: [{ expression: "string(params.metadata.name) != ''" }] });
    await bind(client, 1, { paramRef: selectsParameters });
    for (let i = 0; i < 5; i++) await write(client, 20);
  },
};

const manyBindings: Scenario = {
  name: 'many-policy-bindings',
  fullOnly: true,
  title: 'bindings by the thousand, created while others write, hold up nobody',
  // The bindings stay.
  mostLeft: { full: 192 * 1024 * 1024, short: 0 },
  attack: async ({ client }) => {
    const matchExpressions = times(300, (i) => ({ key: `k${i}`, operator: 'NotIn', values: ['a', 'b'] }));
    await makePolicy(client, { validations: [{ expression: 'true' }] });
    await bind(client, 1_500, { matchResources: { objectSelector: { matchExpressions } } });
    await write(client, 60);
  },
};

export const policyScenarios: readonly Scenario[] = [longMessages, selectedParameters, manyBindings];
