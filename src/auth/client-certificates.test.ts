import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { namesFor } from '../meta/index.ts';
import { issueCertificate, TrustPool } from '../pki/index.ts';
import { certificateAuthenticator, type ExpiryObserver } from './client-certificates.ts';
import type { ClientCertificate } from './types.ts';

const life = { notBefore: 10_000, notAfter: 20_000 };
const authority = (commonName: string) => ({
  ...issueCertificate({ commonName, usage: 'authority', ...life }),
  name: commonName,
});
const [ours, foreign] = [authority('ours'), authority('foreign')];
const unauthorized = expect.objectContaining({ code: 401 });

function shown(issuer = ours, more: Partial<ClientCertificate> = {}): ClientCertificate {
  const { cert } = issueCertificate({ commonName: 'ada', usage: 'client', ...life }, issuer);
  return { commonName: 'ada', organizations: ['ops'], own: new X509Certificate(cert), ...more };
}

function setUp(uids = true, expiring: ExpiryObserver = () => {}) {
  const state = { pool: new TrustPool(ours.cert) as TrustPool | undefined, now: 15_000 };
  const clock = { now: () => state.now };
  const authenticate = certificateAuthenticator(namesFor('k8s.io'), { pool: () => state.pool, clock, uids, expiring });
  return { state, ask: (certificate?: ClientCertificate) => authenticate({ authorization: undefined, certificate }) };
}

describe('client certificates', () => {
  it('name the user and the groups of the client', () => {
    const { ask } = setUp();
    expect(ask(shown(ours, { organizations: ['ops', 'dev'], sha256: 'ab01' }))).toEqual({
      name: 'ada',
      groups: ['ops', 'dev', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab01'] },
    });
    expect(ask({ commonName: 'ada', organizations: [] })).toEqual({ name: 'ada', groups: ['system:authenticated'] });
  });

  it('are not recognised when there is none, or without a common name', () => {
    const { ask } = setUp();
    expect(ask()).toBeUndefined();
    expect(ask(shown(ours, { commonName: '', organizations: ['system:masters'] }))).toBeUndefined();
  });

  it('are a 401 when another authority signed them', () => {
    const { ask } = setUp();
    expect(() => ask(shown(foreign))).toThrow(unauthorized);
    expect(() => ask(shown(foreign, { commonName: '' }))).toThrow(unauthorized);
  });

  it('tell with each request for how long they are still valid', () => {
    const seconds: number[] = [];
    const { ask, state } = setUp(true, (left) => seconds.push(left));
    const certificate = shown();
    void ask(certificate);
    state.now = 19_000;
    void ask(certificate);
    expect(() => ask(shown(foreign))).toThrow(unauthorized);
    void ask({ commonName: 'in-process', organizations: [] });
    expect(seconds).toEqual([5, 1]);
  });

  it('are a 401 before and after their time, also on a connection that is open', () => {
    const { ask, state } = setUp();
    const certificate = shown();
    for (const [now, valid] of [
      [9_000, false],
      [10_000, true],
      [20_000, true],
      [20_001, false],
      [15_000, true],
    ] as const) {
      state.now = now;
      if (valid) expect(ask(certificate)).toMatchObject({ name: 'ada' });
      else expect(() => ask(certificate)).toThrow(unauthorized);
    }
  });

  it('are judged again when the authorities change, and validated once for each of them', () => {
    const { ask, state } = setUp();
    const certificate = shown();
    expect(ask(certificate)).toMatchObject({ name: 'ada' });
    let validated = 0;
    class Counting extends TrustPool {
      override validate(chain: readonly X509Certificate[]) {
        validated += 1;
        return super.validate(chain);
      }
    }
    state.pool = new Counting(foreign.cert);
    for (let i = 0; i < 3; i++) expect(() => ask(certificate)).toThrow(unauthorized);
    expect(validated).toBe(1);
    state.pool = undefined;
    expect(ask(certificate)).toBeUndefined();
    state.pool = new TrustPool(ours.cert);
    expect(ask(certificate)).toMatchObject({ name: 'ada' });
  });

  it('need the certificates that came with them only when no authority has signed them', async () => {
    const middle = { ...issueCertificate({ commonName: 'middle', usage: 'authority', ...life }, ours), name: 'middle' };
    let reads = 0;
    const issuers =
      (...came: readonly { readonly cert: string }[]) =>
      async () => {
        reads++;
        return came.map(({ cert }) => new X509Certificate(cert));
      };
    const { ask, state } = setUp();
    expect(ask(shown(ours, { issuers: issuers(ours) }))).toMatchObject({ name: 'ada' });
    expect(reads).toBe(0);

    const between = shown(middle, { issuers: issuers(middle) });
    const first = [ask(between), ask(between)];
    for (const user of first) {
      expect(user).toBeInstanceOf(Promise);
      await expect(user).resolves.toMatchObject({ name: 'ada' });
    }
    expect(ask(between)).toMatchObject({ name: 'ada' });
    expect(reads).toBe(1);

    const strange = shown(foreign, { issuers: issuers(middle, foreign) });
    await expect(ask(strange)).rejects.toEqual(unauthorized);
    expect(() => ask(strange)).toThrow(unauthorized);
    expect(reads).toBe(2);

    state.pool = new TrustPool(foreign.cert);
    expect(ask(strange)).toMatchObject({ name: 'ada' });
    expect(reads).toBe(2);
  });

  it('give one user value for each connection', () => {
    const { ask } = setUp();
    const certificate = shown();
    expect(ask(certificate)).toBe(ask(certificate));
  });

  it('have at most one uid', () => {
    expect(setUp().ask(shown(ours, { uids: ['u1'] }))).toMatchObject({ uid: 'u1' });
    expect(() => setUp().ask(shown(ours, { uids: ['u1', 'u2'] }))).toThrow(unauthorized);
    expect(() => setUp().ask(shown(ours, { uids: [''] }))).toThrow(unauthorized);
    expect(setUp(false).ask(shown(ours, { uids: ['u1', 'u2'] }))).not.toHaveProperty('uid');
  });

  it('do not make an anonymous user authenticated', () => {
    expect(setUp().ask(shown(ours, { commonName: 'system:anonymous', organizations: [] }))).toEqual({
      name: 'system:anonymous',
      groups: [],
    });
  });
});
