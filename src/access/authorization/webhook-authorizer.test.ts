import { describe, expect, it } from 'vitest';
import type { Attributes } from '../../auth/index.ts';
import { namesFor, VirtualClock } from '../../meta/index.ts';
import { compileCondition } from './conditions.ts';
import { type AuthorizationWebhook, CallFailure, webhookAuthorizer } from './webhook-authorizer.ts';

const names = namesFor('k8s.io');
type Status = { readonly [field: string]: unknown };
type Answer = Status | CallFailure | Promise<Status>;

const busy = new CallFailure('busy', { mayRecover: true });

/** An authorizer over a webhook that answers by `answer`, on a clock of its own. */
function make(answer: (user: string) => Answer, more: Partial<AuthorizationWebhook> = {}) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const told: string[] = [];
  const warnings: string[] = [];
  const authorize = webhookAuthorizer(
    {
      version: 'v1',
      authorizedMs: 60_000,
      unauthorizedMs: 10_000,
      failurePolicy: 'NoOpinion',
      conditions: [],
      call: async (body) => {
        const { user } = (JSON.parse(body) as { readonly spec: { readonly user: string } }).spec;
        asked.push(user);
        const given = await answer(user);
        if (given instanceof CallFailure) throw given;
        return JSON.stringify({ status: given });
      },
      ...more,
    },
    {
      names,
      clock,
      pauses: () => [500, 750],
      warn: (text, { error }) => void warnings.push(`${text}: ${String(error)}`),
      observer: {
        decided: () => {},
        matched: (outcome) => void told.push(outcome),
        called: (result, seconds) => void told.push(`${result} ${seconds}`),
        failedOpen: (result) => void told.push(`open ${result}`),
      },
    },
  );
  const askNow = (user: string, attributes: Partial<Attributes> = {}) =>
    authorize({ user: { name: user, groups: [] }, verb: 'get', resource: undefined, path: '/x', ...attributes });
  const ask = async (...question: Parameters<typeof askNow>) => askNow(...question);
  const later = (ms: number) =>
    clock.advance(ms, async () => {
      for (let i = 0; i < 20; i++) await Promise.resolve();
    });
  return { authorize, ask, askNow, asked, told, warnings, clock, later };
}

const yes = { allowed: true, denied: false, reason: 'r' };
const denied = { allowed: false, denied: true, reason: 'r' };
const no = { allowed: false, reason: 'r' };

describe('a webhook as an authorizer', () => {
  it.each([
    ['allows', yes, { allowed: true, reason: 'r' }],
    ['denies', denied, denied],
    ['has no opinion', no, no],
    [
      'denies what it allows and denies',
      { ...yes, denied: true },
      { ...denied, error: 'webhook subject access review returned both allow and deny response' },
    ],
    ['decides whatever it complains of', { ...yes, evaluationError: 'x' }, { allowed: true, reason: 'r' }],
  ])('%s', async (_, status, decision) => {
    const { ask, told } = make(() => status);
    expect(await ask('u')).toEqual(decision);
    expect(told).toEqual(['success 0']);
  });

  it('keeps what it allowed, and for another time what it did not allow', async () => {
    const { ask, askNow, asked, later } = make((user) => (user === 'yes' ? yes : user === 'no' ? no : denied));
    for (const user of ['yes', 'no', 'never']) await ask(user);
    await later(9_999);
    // At once, without a promise.
    expect(['yes', 'no', 'never'].map((user) => askNow(user))).toEqual([{ allowed: true, reason: 'r' }, no, denied]);
    expect(asked).toHaveLength(3);
    await later(1);
    for (const user of ['yes', 'no', 'never']) await ask(user);
    expect(asked.slice(3)).toEqual(['no', 'never']);
    await later(50_000);
    await ask('yes');
    expect(asked.slice(5)).toEqual(['yes']);
  });

  it('keeps nothing where the times are 0, and no failure', async () => {
    const forgetful = make(() => yes, { authorizedMs: 0 });
    for (let i = 0; i < 2; i++) await forgetful.ask('u');
    expect(forgetful.asked).toHaveLength(2);
    const failing = make(() => new CallFailure('no'));
    for (let i = 0; i < 2; i++) await failing.ask('u');
    expect(failing.asked).toHaveLength(2);
  });

  it('tells questions apart by everything that is sent, and keeps none with very long attributes', async () => {
    const { ask, asked } = make(() => yes);
    const user = { name: 'u', groups: [] };
    const different: Partial<Attributes>[] = [
      ...[{}, { verb: 'post' }, { path: '/y' }, { user: { ...user, groups: ['g'] } }],
      ...[{ user: { ...user, uid: '1' } }, { user: { ...user, extra: { k: ['v'] } } }],
    ];
    for (let i = 0; i < 2; i++) for (const attributes of different) await ask('u', attributes);
    expect(asked).toHaveLength(different.length);
    for (let i = 0; i < 2; i++) await ask('x'.repeat(20_000));
    expect(asked).toHaveLength(different.length + 1);
    for (let i = 0; i < 2; i++) await ask('u', { path: 'x'.repeat(10_000) });
    expect(asked).toHaveLength(different.length + 3);
  });

  it('forgets the answer that has not been asked for the longest, after 8,192', async () => {
    const { ask, asked } = make(() => yes);
    for (let i = 0; i < 8_192; i++) await ask(`u${i}`);
    await ask('u0');
    await ask('one more');
    await ask('u0');
    expect(asked).toHaveLength(8_193);
    await ask('u1');
    expect(asked).toHaveLength(8_194);
  });

  it('is asked the same question once at a time', async () => {
    const answers: ((status: Status) => void)[] = [];
    const { ask, asked } = make(() => new Promise<Status>((resolve) => answers.push(resolve)));
    const decisions = [ask('u'), ask('u'), ask('u'), ask('v')];
    await Promise.resolve();
    expect(asked).toEqual(['u', 'v']);
    for (const answer of answers) answer(yes);
    expect(await Promise.all(decisions)).toEqual(Array(4).fill({ allowed: true, reason: 'r' }));
  });

  it('is asked 64 questions at a time; a thousand wait, and no more', async () => {
    const answers: ((status: Status) => void)[] = [];
    const { ask, asked } = make(() => new Promise<Status>((resolve) => answers.push(resolve)));
    const decisions = Array.from({ length: 64 + 1_024 }, (_, i) => ask(`u${i}`));
    await Promise.resolve();
    expect(asked).toHaveLength(64);
    expect(await ask('one more')).toMatchObject({ allowed: false, error: expect.stringContaining('too many reviews') });
    while (answers.length > 0) {
      answers.shift()?.(yes);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(new Set((await Promise.all(decisions)).map(({ allowed }) => allowed))).toEqual(new Set([true]));
    expect(asked).toHaveLength(64 + 1_024);
  });

  it('fails for who has waited for 30 seconds', async () => {
    const answers: ((status: Status) => void)[] = [];
    const { ask, later } = make(() => new Promise<Status>((resolve) => answers.push(resolve)));
    const first = Array.from({ length: 64 }, (_, i) => ask(`u${i}`));
    const last = ask('last');
    await later(30_001);
    for (const answer of answers) answer(yes);
    await Promise.all(first);
    expect(await last).toMatchObject({ error: 'the webhook is too slow: the review has waited for too long' });
  });

  it('is asked again after pauses while it may recover', async () => {
    let failures = 2;
    const { ask, asked, told, later } = make(() => (failures-- > 0 ? busy : yes));
    const decision = ask('u');
    await later(499);
    expect(asked).toHaveLength(1);
    await later(1);
    expect(asked).toHaveLength(2);
    await later(750);
    expect(await decision).toEqual({ allowed: true, reason: 'r' });
    expect(told).toEqual(['error 0', 'error 0', 'success 0']);
  });

  it.each([
    ['NoOpinion', { allowed: false, reason: '', error: 'busy' }, ['error 0', 'error 0', 'error 0', 'open error']],
    ['Deny', { allowed: false, denied: true, reason: '', error: 'busy' }, ['error 0', 'error 0', 'error 0']],
  ] as const)('that fails has the failure policy %s', async (failurePolicy, decision, expected) => {
    const { ask, told, warnings, later } = make(() => busy, { failurePolicy });
    const failed = ask('u');
    await later(2_000);
    expect(await failed).toEqual(decision);
    expect(told).toEqual(expected);
    expect(warnings).toEqual(['an authorization webhook has failed: busy']);
  });

  it('that is too slow is told as such, and not asked again', async () => {
    const { ask, asked, told } = make(() => new CallFailure('late', { timedOut: true }));
    expect(await ask('u')).toMatchObject({ error: 'late' });
    expect([asked.length, told]).toEqual([1, ['timeout 0', 'open timeout']]);
  });

  it('is asked about what its conditions match', async () => {
    const conditions = [
      "request.user != 'skip'",
      "request.user != 'odd' || request.resourceAttributes.verb == 'x'",
    ].map((source) => {
      const compiled = compileCondition(source);
      if (typeof compiled === 'string') throw new Error(compiled);
      return compiled;
    });
    const { ask, askNow, asked, told } = make(() => yes, { conditions });
    expect(await ask('u')).toEqual({ allowed: true, reason: 'r' });
    expect(askNow('skip')).toEqual({ allowed: false, reason: '' });
    expect(askNow('odd')).toMatchObject({
      allowed: false,
      error: expect.stringContaining('no such key: resourceAttributes'),
    });
    expect([asked, told]).toEqual([['u'], ['match', 'success 0', 'exclusion', 'error']]);
    const strict = make(() => yes, { conditions, failurePolicy: 'Deny' });
    expect(strict.askNow('odd')).toMatchObject({ denied: true });
    expect(strict.askNow('skip')).toEqual({ allowed: false, reason: '' });
  });

  it('cannot list the rules of a user', () => {
    expect(make(() => yes).authorize.rulesFor?.({ name: 'u', groups: [] }, 'n')).toMatchObject({
      incomplete: true,
      evaluationError: 'webhook authorizer does not support user rule resolution',
    });
  });
});
