import type { Ask, Client } from '../client.ts';
import { answered, asAdmin, asBob, configMaps, hold, type Scenario, succeeded } from './scenario.ts';

/** Attacks by the administrator of one namespace, who may create roles and bind them. */

const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default';
const rulesReviews = '/apis/authorization.orch.io/v1/selfsubjectrulesreviews';
const group = 'rbac.authorization.orch.io';

async function post(client: Client, path: string, object: object): Promise<void> {
  succeeded(`creating in ${path}`, await client.http1(asAdmin('POST', path, object)));
}

/** Roles with many rules each, all bound to everybody many times. */
async function bindRoles(client: Client, roles: number, rules: number, bindings: number): Promise<void> {
  const subjects = [{ apiGroup: group, kind: 'Group', name: 'system:authenticated' }];
  for (let r = 0; r < roles; r++) {
    const made = Array.from({ length: rules }, (_, i) => ({
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [`n${i}`],
      verbs: ['get'],
    }));
    await post(client, `${rbac}/roles`, { metadata: { name: `r${r}` }, rules: made });
    const roleRef = { apiGroup: group, kind: 'Role', name: `r${r}` };
    const binding = (i: number) => ({ metadata: { name: `r${r}-${i}` }, roleRef, subjects });
    for (let i = 0; i < bindings; i += 50) {
      const some = Array.from({ length: Math.min(50, bindings - i) }, (_, j) => binding(i + j));
      await Promise.all(some.map((object) => post(client, `${rbac}/rolebindings`, object)));
    }
  }
}

const manyRules: Scenario = {
  name: 'many-rules',
  title: 'roles with very many rules, bound many times, hold up nobody, and are listed within limits',
  // The roles stay: 75,000 rules as objects, and in the index.
  mostLeft: { full: 128 * 1024 * 1024, short: 64 * 1024 * 1024 },
  attack: async ({ client, full }) => {
    await bindRoles(client, full ? 5 : 2, full ? 15_000 : 8_000, full ? 300 : 50);
    const denied: Ask = { user: 'bob', method: 'GET', path: `${configMaps}/none` };
    await Promise.all(
      Array.from({ length: full ? 2_000 : 100 }, async () => {
        const answer = await client.http1(denied);
        hold(answer.status === 403 || answer.status === 429, `a request is answered with ${answer.status}`);
      }),
    );
    const review = JSON.stringify({ spec: { namespace: 'default' } });
    await Promise.all(
      Array.from({ length: full ? 40 : 2 }, async () => {
        const answer = await client.http1(asBob(rulesReviews, review));
        hold(answer.status === 201 || answer.status === 429, `a review is answered with ${answer.status}`);
        hold(answer.body.length < 8 * 1024 * 1024, `a review is answered with ${answer.body.length} bytes`);
        if (answer.status !== 201) answered('a review', answer);
      }),
    );
  },
};

export const roleScenarios: readonly Scenario[] = [manyRules];
