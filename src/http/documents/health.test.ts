import { expect, it } from 'vitest';
import { statusError } from '../../meta/index.ts';
import { makeFixture } from '../testing/fixture.ts';

const everywhere = ['healthz', 'livez', 'readyz'] as const;
const ok = (name: string) => ({ name, check: () => {}, endpoints: everywhere });

it('responds as recorded when all checks pass', async () => {
  const { send, close } = await makeFixture({ checks: [ok('ping'), ok('log')] });
  for (const path of ['/healthz', '/livez', '/readyz', '/livez/ping', '/readyz/ping', '/livez?exclude=absent']) {
    const answer = await send('GET', path);
    expect([path, answer.status, answer.text]).toEqual([path, 200, 'ok']);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
  }
  const absent = await send('GET', '/livez/absent');
  expect([absent.status, absent.text]).toEqual([404, '404 page not found\n']);
  expect((await send('GET', '/readyz?verbose')).text).toBe('[+]ping ok\n[+]log ok\nreadyz check passed\n');
  expect((await send('GET', '/livez?verbose&exclude=ping')).text).toBe(
    '[+]ping excluded: ok\n[+]log ok\nlivez check passed\n',
  );
  expect((await send('GET', '/livez?verbose&exclude=a&exclude=b')).text).toBe(
    '[+]ping ok\n[+]log ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nlivez check passed\n',
  );
  expect((await send('GET', '/livez/')).status).toBe(404);
  // Who is asked by another method answers too.
  expect((await send('POST', '/healthz')).text).toBe('ok');
  await close();
});

it('fails with the name of the check; the reason is logged only', async () => {
  const secret = new Error('password hunter2');
  const broken = { name: 'store', check: () => Promise.reject(secret), endpoints: ['readyz'] as const };
  const { send, errors, close } = await makeFixture({ checks: [ok('ping'), broken] });
  const answer = await send('GET', '/readyz');
  expect([answer.status, answer.text]).toEqual([
    500,
    '[+]ping ok\n[-]store failed: reason withheld\nreadyz check failed\n',
  ]);
  expect((await send('GET', '/readyz/store')).status).toBe(500);
  expect((await send('GET', '/readyz?exclude=store')).status).toBe(200);
  // It is not a check of this endpoint.
  expect((await send('GET', '/livez')).status).toBe(200);
  expect((await send('GET', '/livez/store')).status).toBe(404);
  expect(errors[0]?.fields).toEqual({ check: 'store', error: secret });
  await close();
});

it('tells the message of a failure that is meant for clients', async () => {
  const check = () => Promise.reject(statusError.unavailable('no space left'));
  const { send, close } = await makeFixture({ checks: [{ name: 'store', check, endpoints: ['readyz'] as const }] });
  expect((await send('GET', '/readyz')).text).toBe('[-]store failed: no space left\nreadyz check failed\n');
  expect((await send('GET', '/readyz/store')).text).toBe('internal server error: store failed: no space left\n');
  await close();
});

it('counts an optional check only where it is included, and tells of it where it is asked for', async () => {
  let broken = false;
  const check = () => {
    if (broken) throw new Error('secret');
  };
  const writable = { name: 'writable', check, endpoints: ['readyz'] as const, optional: true };
  const { send, errors, close } = await makeFixture({ checks: [ok('ping'), writable] });
  const ask = async (url: string) => {
    const { status, text } = await send('GET', url);
    return `${status} ${text}`;
  };
  expect(await ask('/readyz?verbose')).toBe('200 [+]ping ok\n[+]writable ok\nreadyz check passed\n');
  expect(await ask('/readyz?include=writable')).toBe('200 ok');
  broken = true;
  expect(await ask('/readyz')).toBe('200 ok');
  expect(errors).toEqual([]);
  expect(await ask('/readyz?verbose')).toBe(
    '200 [+]ping ok\n[-]writable failed, does not count: reason withheld\nreadyz check passed\n',
  );
  expect(await ask('/readyz?include=writable')).toBe(
    '500 [+]ping ok\n[-]writable failed: reason withheld\nreadyz check failed\n',
  );
  expect(await ask('/readyz?include=writable&exclude=writable')).toBe('200 ok');
  expect((await send('GET', '/readyz/writable')).status).toBe(500);
  expect((await send('GET', '/livez/writable')).status).toBe(404);
  await close();
});

it('counts the results of each check by endpoint', async () => {
  let broken = true;
  const check = () => {
    if (broken) throw new Error('not yet');
  };
  const store = { name: 'store', check, endpoints: ['readyz'] as const };
  const { send, close } = await makeFixture({ checks: [ok('ping'), store] });
  for (const path of ['/readyz', '/readyz/store', '/livez/ping', '/readyz?exclude=ping']) await send('GET', path);
  broken = false;
  await send('GET', '/readyz');
  const { text, headers } = await send('GET', '/metrics/slis');
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(text.split('\n')).toEqual([
    expect.stringMatching(/^# HELP kubernetes_healthcheck \[STABLE\] ./),
    '# TYPE kubernetes_healthcheck gauge',
    'kubernetes_healthcheck{name="ping",type="readyz"} 1',
    'kubernetes_healthcheck{name="store",type="readyz"} 1',
    'kubernetes_healthcheck{name="ping",type="livez"} 1',
    expect.stringMatching(/^# HELP kubernetes_healthchecks_total \[STABLE\] ./),
    '# TYPE kubernetes_healthchecks_total counter',
    'kubernetes_healthchecks_total{name="ping",type="readyz",status="success"} 2',
    'kubernetes_healthchecks_total{name="store",type="readyz",status="error"} 3',
    'kubernetes_healthchecks_total{name="ping",type="livez",status="success"} 1',
    'kubernetes_healthchecks_total{name="store",type="readyz",status="success"} 1',
    '',
  ]);
  await close();
});
