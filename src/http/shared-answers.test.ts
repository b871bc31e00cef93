import { describe, expect, it } from 'vitest';
import { noOpinion } from '../auth/index.ts';
import { statusError } from '../meta/index.ts';
import { type FixtureOptions, makeFixture } from './testing/fixture.ts';

/** A response that many requests wait for together, such as that of a webhook or the keys of an identity provider. */
function shared<T>() {
  let answer: (outcome: Promise<T>) => void = () => {};
  const waiting = new Promise<T>((resolve) => {
    answer = resolve;
  });
  return { waiting, answer };
}

const many = 2_000;
const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

/** The statuses of requests that wait together, and how many have one in the turn of the event loop after the answer. */
async function waitTogether(options: FixtureOptions, token: string, answer: () => void) {
  const server = await makeFixture({ ...options, limits: { readOnly: 2 * many } });
  const statuses: number[] = [];
  const asked = Array.from({ length: many }, async () => {
    statuses.push((await server.send('GET', '/api/v1/nodes/absent', { token })).status);
  });
  await turnOfTheLoop();
  expect(statuses).toEqual([]);
  answer();
  await turnOfTheLoop();
  const atOnce = statuses.length;
  await Promise.all(asked);
  await server.close();
  return { atOnce, statuses: new Set(statuses) };
}

describe('requests that wait for the same answer go on in different turns of the event loop', () => {
  it('when it says who sends them', async () => {
    const { waiting, answer } = shared<{ user: { name: string; groups: string[] }; audiences: string[] }>();
    const user = { name: 'carol', groups: ['system:masters'] };
    const authenticateToken = () => waiting;
    const { atOnce, statuses } = await waitTogether({ authenticateToken }, 'unknown', () =>
      answer(Promise.resolve({ user, audiences: [] })),
    );
    expect(statuses).toEqual(new Set([404]));
    expect(atOnce).toBeLessThan(many);
  });

  it('when it refuses their credentials', async () => {
    const { waiting, answer } = shared<undefined>();
    const { atOnce, statuses } = await waitTogether({ authenticateToken: () => waiting }, 'unknown', () =>
      answer(Promise.reject(statusError.unauthorized())),
    );
    expect(statuses).toEqual(new Set([401]));
    expect(atOnce).toBeLessThan(many);
  });

  it('when it says what they may do', async () => {
    const { waiting, answer } = shared<typeof noOpinion>();
    const authorize = Object.assign(
      ({ resource }: { readonly resource?: { readonly name: string } | undefined }) =>
        resource?.name === 'absent' ? waiting : noOpinion,
      { rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }) },
    );
    const { atOnce, statuses } = await waitTogether({ authorize }, 'jane', () => answer(Promise.resolve(noOpinion)));
    expect(statuses).toEqual(new Set([403]));
    expect(atOnce).toBeLessThan(many);
  });
});
