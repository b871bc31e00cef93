import { describe, expect, it } from 'vitest';
import { allowFirst, discoveryAuthorizer, mastersAuthorizer } from './authorize.ts';
import type { Attributes, Authorizer } from './types.ts';

const authorize = allowFirst([mastersAuthorizer, discoveryAuthorizer]);
const pods = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', name: 'b' };

async function may(group: string, verb: string, path: string, resource?: Attributes['resource']) {
  return (await authorize({ user: { name: 'u', groups: [group] }, verb, resource, path })).allowed;
}

describe('authorizers', () => {
  it('let system:masters do everything', async () => {
    expect(await may('system:masters', 'delete', '/api/v1/namespaces/a/pods/b', pods)).toBe(true);
    expect(await may('system:masters', 'get', '/metrics')).toBe(true);
  });

  // The rules of the roles system:discovery and system:public-info-viewer, as recorded from the reference server.
  const open = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
  const discovery = ['/api', '/api/', '/api/v1', '/apis', '/apis/apps/v1', '/openapi', '/openapi/v3/api/v1'];
  const closed = ['/', '/metrics', '/apix', '/healthz/ping', '/versions', '/openapix', '/api2/v1'];

  it.each([...open, ...discovery])('let authenticated users read %s', async (path) => {
    expect(await may('system:authenticated', 'get', path)).toBe(true);
    expect(await may('system:authenticated', 'post', path)).toBe(false);
  });

  it('let anonymous users read version and health only', async () => {
    for (const path of open) expect(await may('system:unauthenticated', 'get', path)).toBe(true);
    for (const path of [...discovery, ...closed]) expect(await may('system:unauthenticated', 'get', path)).toBe(false);
  });

  it.each(closed)('keep %s closed', async (path) => {
    expect(await may('system:authenticated', 'get', path)).toBe(false);
  });

  it('deny every resource to everyone else, also below a path of discovery', async () => {
    expect(await may('system:authenticated', 'get', '/api/v1/namespaces/a/pods/b', pods)).toBe(false);
    expect(await may('ops', 'get', '/version')).toBe(false);
  });

  it('give the reasons of all that did not allow', async () => {
    const no =
      (reason: string): Authorizer =>
      () => ({ allowed: false, reason });
    const attributes = { user: { name: 'u', groups: [] }, verb: 'get', resource: undefined, path: '/' };
    expect(await allowFirst([no('a'), no(''), no('b')])(attributes)).toEqual({ allowed: false, reason: 'a, b' });
    const later = allowFirst([async () => no('a')(attributes), no('b'), async () => no('')(attributes)]);
    expect(await later(attributes)).toEqual({ allowed: false, reason: 'a, b' });
  });
});
