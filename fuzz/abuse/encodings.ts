import { type Attack, asAdmin, configMaps, hold, letBobRead, type Scenario, succeeded } from './scenario.ts';

/** Attacks by whoever may read in one namespace where there are large objects. */

const table = 'application/json;as=Table;v=v1;g=meta.orch.io';
const accepts = [table, 'application/yaml', 'application/vnd.orch.protobuf', 'application/json'];

/** Creates config maps with many keys each. */
async function makeLarge({ client }: Attack, objects: number, keys: number): Promise<void> {
  await letBobRead(client);
  for (let i = 0; i < objects; i++) {
    const data = Object.fromEntries(Array.from({ length: keys }, (_, key) => [`key-${key % 97}-${key}`, 'value\n']));
    succeeded('an object', await client.http1(asAdmin('POST', configMaps, { metadata: { name: `large${i}` }, data })));
  }
}

/** Reads all paths at the same time, each in every encoding. */
async function readAll({ client }: Attack, paths: readonly string[]): Promise<void> {
  const asked = paths.flatMap((path) => accepts.map((accept) => ({ path, accept })));
  await Promise.all(
    asked.map(async ({ path, accept }) => {
      const headers = { accept, 'accept-encoding': 'gzip' };
      const { status } = await client.http2({ user: 'bob', method: 'GET', path, headers });
      // YAML cannot be watched.
      hold([200, 406, 429].includes(status), `${path} as ${accept} is answered with ${status}`);
    }),
  );
}

const largeObjects: Scenario = {
  name: 'large-objects',
  title: 'objects of many fields are read in every encoding, many at a time, and keep nobody waiting',
  attack: async (attack) => {
    await makeLarge(attack, 4, attack.full ? 20_000 : 8_000);
    const reads = attack.full ? 30 : 4;
    await readAll(
      attack,
      Array.from({ length: reads }, (_, i) => `${configMaps}/large${i % 4}?includeObject=Object&pretty=${i % 2}`),
    );
  },
};

const largeLists: Scenario = {
  name: 'large-lists',
  title: 'lists and watches of objects of many fields in every encoding keep nobody waiting',
  attack: async (attack) => {
    await makeLarge(attack, 8, attack.full ? 10_000 : 5_000);
    const reads = attack.full ? 40 : 2;
    await readAll(
      attack,
      Array.from({ length: reads }, (_, i) =>
        i % 2 === 0
          ? `${configMaps}?includeObject=Object&limit=${4 + (i % 8)}`
          : `${configMaps}?watch=1&resourceVersion=0&timeoutSeconds=2`,
      ),
    );
  },
};

export const encodingScenarios: readonly Scenario[] = [largeObjects, largeLists];
