import { asAdmin, asBob, configMaps, hold, type Scenario, selfReviews, succeeded } from './scenario.ts';

/** Attacks on what many users share to read, sign and check. */

/** A document of a few hundred short tokens, which takes the thread for YAML a millisecond or more. */
const smallYaml = `a:\n${'- b: [c, d]\n'.repeat(50)}`;

const sharedYaml: Scenario = {
  name: 'shared-yaml',
  title: 'a user who sends YAML without end does not keep the YAML of others waiting',
  sharesServer: true,
  attack: async ({ client, full }) => {
    let over = false;
    const loop = async () => {
      while (!over) await client.http2(asBob(selfReviews, smallYaml, 'application/yaml')).catch(() => {});
    };
    const loops = Array.from({ length: full ? 100 : 60 }, loop);
    const applies = full ? 40 : 10;
    // Larger than the documents of the attack, and still a reasonable object.
    const data = Array.from({ length: 60 }, (_, i) => `  k${i}: "value ${i}"\n`).join('');
    let read = 0;
    const own = async () => {
      for (; read < applies; read++) {
        const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: shared }\ndata:\n  n: "${read}"\n${data}`;
        const path = `${configMaps}/shared?fieldManager=m`;
        succeeded('an apply in YAML', await client.http1(asAdmin('PATCH', path, body, 'application/apply-patch+yaml')));
      }
    };
    const patience = full ? 15 : 60;
    const late = new Promise<void>((resolve) => setTimeout(resolve, patience * 1_000).unref());
    await Promise.race([own(), late]);
    over = true;
    hold(read === applies, `${read} of ${applies} writes in YAML are answered within ${patience} s`);
    await Promise.all(loops);
  },
};

export const accessScenarios: readonly Scenario[] = [sharedYaml];
