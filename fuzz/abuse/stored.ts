import { asAdmin, configMaps, hold, type Scenario, succeeded } from './scenario.ts';

/** Reads that the watch caches cannot answer: they go to the store. */

const formerLists: Scenario = {
  name: 'former-lists',
  title: 'lists at a former version, hundreds at a time, do not delay others',
  attack: async ({ client, full }) => {
    const [objects, lists] = full ? [3_000, 400] : [500, 40];
    const text = 'x'.repeat(2_000);
    let version = '';
    for (let i = 0; i < objects; i += 50) {
      const made = await Promise.all(
        Array.from({ length: 50 }, (_, j) =>
          client.http1(asAdmin('POST', configMaps, { metadata: { name: `former-${i + j}` }, data: { text } })),
        ),
      );
      for (const answer of made) succeeded('an object', answer);
      version = (JSON.parse(made.at(-1)?.body.toString() ?? '{}') as { metadata: { resourceVersion: string } }).metadata
        .resourceVersion;
    }
    succeeded('a change', await client.http1(asAdmin('DELETE', `${configMaps}/former-0`)));
    const path = `${configMaps}?resourceVersion=${version}&resourceVersionMatch=Exact&labelSelector=a%3Db`;
    const answers = await Promise.all(Array.from({ length: lists }, () => client.http2(asAdmin('GET', path))));
    for (const { status } of answers) hold(status === 200 || status === 429, `a list is answered with ${status}`);
  },
};

export const storedScenarios: readonly Scenario[] = [formerLists];
