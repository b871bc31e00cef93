import { describe, expect, it } from 'vitest';
import type { Attributes } from '../auth/index.ts';
import type { User } from '../meta/index.ts';
import { attributesOf, identify } from './request-info.ts';
import { makeFixture } from './testing/fixture.ts';

const jane: User = { name: 'jane', groups: [] };
const attributes = (method: string, url: string, withSelectors = true) =>
  attributesOf(identify(method, url), jane, withSelectors);
const selectedName = (method: string, url: string) => attributes(method, url).resource?.name ?? '';

// Names as the reference server takes them from a request (apiserver/pkg/endpoints/request/requestinfo.go).
describe('the name of the attributes', () => {
  const pods = '/api/v1/namespaces/a/pods';
  const of = (fieldSelector: string) => `${pods}?fieldSelector=${encodeURIComponent(fieldSelector)}`;
  it.each([
    ['GET', of('metadata.name=x'), 'x'],
    ['GET', of('metadata.name==x'), 'x'],
    ['HEAD', of('metadata.name=x'), 'x'],
    ['GET', `${of('metadata.name=x')}&watch=1`, 'x'],
    ['GET', of('spec.nodeName=n,metadata.name=x'), 'x'],
    ['GET', of('metadata.name!=y,metadata.name=x'), 'x'],
    ['GET', of('metadata.name=a\\,b\\=c'), 'a,b=c'],
  ])('%s %s selects one object', (method, url, name) => {
    expect(selectedName(method, url)).toBe(name);
  });

  it.each([
    ['GET', pods],
    ['GET', of('metadata.name!=x')],
    ['GET', of('metadata.name=')],
    ['GET', of('spec.metadata.name=x')],
    ['GET', of('spec.nodeName=metadata.name=x')],
    ['GET', of('spec.nodeName=a\\,metadata.name\\=x')],
    ['GET', of('metadata.name=x,spec.nodeName')],
    ['GET', of('metadata.name=x,spec.nodeName=a=b')],
    ['GET', of('metadata.name=..')],
    ['GET', of('metadata.name=x/y')],
    ['GET', of('metadata.name=50%')],
    ['GET', `${pods}?fieldSelector=&fieldSelector=metadata.name%3Dx`],
    ['GET', '/metrics?fieldSelector=metadata.name%3Dx'],
    ['GET', `${of('metadata.name=x')}&labelSelector=a+b`],
    ['GET', '/api/v1/watch/namespaces/a/pods?fieldSelector=metadata.name%3Dx'],
    ['POST', of('metadata.name=x')],
    ['PUT', of('metadata.name=x')],
    ['PATCH', of('metadata.name=x')],
    ['DELETE', of('metadata.name=x')],
    ['deletecollection', of('metadata.name=x')],
  ])('%s %s is none', (method, url) => {
    expect(selectedName(method, url)).toBe('');
  });

  it('is that of the path where it has one', () => {
    const ofY = '/api/v1/namespaces/a/pods/y?fieldSelector=metadata.name%3Dx';
    expect(selectedName('GET', ofY)).toBe('y');
    expect(selectedName('GET', `${ofY}&watch=1`)).toBe('y');
  });
});

// Requirements as the reference server takes them from a request (apiserver/pkg/endpoints/filters/authorization.go).
describe('the selectors of the attributes', () => {
  const pods = '/api/v1/namespaces/a/pods';
  const both = `?fieldSelector=spec.nodeName%3Dn,status.phase!%3DRunning&labelSelector=app+in+(x,y)`;
  const given = {
    fieldSelector: {
      requirements: [
        { field: 'spec.nodeName', value: 'n', not: false },
        { field: 'status.phase', value: 'Running', not: true },
      ],
    },
    labelSelector: { requirements: [{ key: 'app', operator: 'in', values: ['x', 'y'] }] },
  };
  const selectorsOf = (method: string, url: string, withSelectors = true) => {
    const { fieldSelector, labelSelector } = attributes(method, url, withSelectors);
    return { fieldSelector, labelSelector };
  };

  it.each([
    ['GET', `${pods}${both}`],
    ['GET', `${pods}${both}&watch=1`],
    ['DELETE', `${pods}${both}`],
  ])('are those of %s %s', (method, url) => {
    expect(selectorsOf(method, url)).toEqual(given);
    expect(selectorsOf(method, url, false)).toEqual({});
  });

  it.each([
    ['GET', `${pods}/x${both}`],
    ['POST', `${pods}${both}`],
    ['DELETE', `${pods}/x${both}`],
    ['GET', `/api/v1/watch/namespaces/a/pods${both}`],
    ['GET', `${pods}?fieldSelector=&labelSelector=`],
    ['GET', `${pods}?fieldSelector=,&labelSelector=+`],
    ['GET', `/metrics${both}`],
  ])('are none for %s %s', (method, url) => {
    expect(selectorsOf(method, url)).toEqual({});
  });

  it('carry the error of their parser', () => {
    expect(selectorsOf('GET', `${pods}?fieldSelector=spec.nodeName&labelSelector=a+b`)).toEqual({
      fieldSelector: {
        requirements: [],
        error: "invalid selector: 'spec.nodeName'; can't understand 'spec.nodeName'",
      },
      labelSelector: {
        requirements: [],
        error: "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
      },
    });
  });

  it.each([true, false])('reach the authorizers with the feature gate AuthorizeWithSelectors=%s', async (on) => {
    const asked: Attributes[] = [];
    const authorize = (attributes: Attributes) => {
      asked.push(attributes);
      return { allowed: false, reason: '' };
    };
    const server = await makeFixture({ authorize, features: { AuthorizeWithSelectors: on } });
    expect((await server.send('GET', `${pods}${both}`, { token: 'jane' })).status).toBe(403);
    const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const resourceAttributes = { verb: 'list', resource: 'pods', labelSelector: { rawSelector: 'app in (x,y)' } };
    const { json } = await server.send('POST', review, { token: 'jane', body: { spec: { resourceAttributes } } });
    expect(json()).toMatchObject({ status: { allowed: false } });
    expect(asked.map(({ fieldSelector, labelSelector }) => ({ fieldSelector, labelSelector }))).toEqual(
      on ? [given, { labelSelector: given.labelSelector }] : [{}, {}],
    );
    await server.close();
  });
});
