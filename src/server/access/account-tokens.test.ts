import { describe, expect, it } from 'vitest';
import type { Client } from '../../client/index.ts';
import { type ApiObject, namesFor, statusError } from '../../meta/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { accountTokens } from './account-tokens.ts';

const accounts = { group: '', resource: 'serviceaccounts' };

/** A server that issues tokens of an hour, numbered; what it was asked for. */
function world() {
  const clock = drivenClock();
  const asked: string[] = [];
  const state = { exists: false, works: true };
  let tokens = 0;
  const create = async ({ subresource, name }: { subresource?: string; name?: string }, object: ApiObject) => {
    asked.push(subresource === 'token' ? `token of ${name}` : `account ${object.metadata.name}`);
    if (!state.works) throw statusError.internal('no');
    if (subresource !== 'token') state.exists = true;
    else if (!state.exists) throw statusError.notFound(accounts, name ?? '');
    const expirationTimestamp = new Date(clock.now() + 3_600_000).toISOString();
    return { ...object, status: { token: `t${++tokens}`, expirationTimestamp } };
  };
  const client = { create } as unknown as Client;
  return { clock, asked, state, token: accountTokens({ client, names: namesFor('k8s.io'), clock }, 'job-controller') };
}

describe('tokens of a service account', () => {
  it('come with the account where it is missing', async () => {
    const { token, asked } = world();
    await token();
    expect(asked).toEqual(['token of job-controller', 'account job-controller', 'token of job-controller']);
  });

  it('are requested once for many requests, and renewed before they expire', async () => {
    const { clock, token, asked, state } = world();
    state.exists = true;
    expect(await Promise.all([token(), token(), token()])).toEqual(['t1', 't1', 't1']);
    clock.advance(47 * 60_000);
    expect([await token(), asked.length]).toEqual(['t1', 1]);
    clock.advance(60_000);
    expect([await token(), asked.length]).toEqual(['t2', 2]);
  });

  it('are used until they expire while no other can be had', async () => {
    const { clock, token, state } = world();
    state.exists = true;
    await token();
    state.works = false;
    clock.advance(59 * 60_000);
    expect(await token()).toBe('t1');
    clock.advance(60_000);
    await expect(token()).rejects.toThrow('no');
  });
});
