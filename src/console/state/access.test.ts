import { describe, expect, it } from 'vitest';
import { createClient } from '../../client/index.ts';
import { namesFor } from '../../meta/index.ts';
import { jsonResponse } from '../testing/json-response.ts';
import { isAllowed } from './access.ts';

/** A session whose reviews get these statuses in turn; those with 201 allow. */
function sessionOf(...statuses: number[]) {
  let asked = 0;
  const transport = async () => {
    const status = statuses[asked++] ?? 500;
    const body = status === 201 ? { status: { allowed: true } } : { kind: 'Status', code: status };
    return jsonResponse(status, body);
  };
  const session = {
    client: createClient({ transport }),
    transport,
    names: namesFor('k8s.io'),
    user: 'jane',
    groups: [],
    signOutAddress: () => undefined,
  };
  return { session, asked: () => asked };
}

const action = { verb: 'create', group: '', resource: 'configmaps' };

describe('isAllowed', () => {
  it('asks the server once for each action, whatever the order of its members', async () => {
    const { session, asked } = sessionOf(201);
    const { verb, ...others } = action;
    expect(await Promise.all([isAllowed(session, action), isAllowed(session, { ...others, verb })])).toEqual([
      true,
      true,
    ]);
    expect(asked()).toBe(1);
  });

  it('asks again after a review that failed', async () => {
    const { session, asked } = sessionOf(503, 201);
    await expect(isAllowed(session, action)).rejects.toMatchObject({ code: 503 });
    expect(await isAllowed(session, action)).toBe(true);
    expect(asked()).toBe(2);
  });

  it('is false for users who may not ask', async () => {
    const { session, asked } = sessionOf(403);
    expect([await isAllowed(session, action), await isAllowed(session, action)]).toEqual([false, false]);
    expect(asked()).toBe(1);
  });
});
