import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject, JsonObject } from '../meta/index.ts';
import { certificateRequest, commonName, organization } from '../pki/testing/certificate-request.ts';
import { type OlderServer, olderServer, specOf } from './testing/older-server.ts';

let opened: OlderServer;
beforeAll(async () => {
  opened = await olderServer();
});
afterAll(() => opened.server.close());

const request: OlderServer['request'] = (...call) => opened.request(...call);

/** It is not structural: the property has no type. */
const gadgetSchema = { openAPIV3Schema: { properties: { spec: { properties: { size: { maximum: 9 } } } } } };

describe('a definition of v1beta1', () => {
  const definitionsIn = (version: string) => `/apis/apiextensions.k8s.io/${version}/customresourcedefinitions`;
  const define = (plural: string, spec: JsonObject, status?: number) =>
    request(
      'POST',
      definitionsIn('v1beta1'),
      {
        metadata: { name: `${plural}.example.org` },
        spec: { group: 'example.org', names: { plural, kind: plural }, version: 'v1', ...spec },
      },
      status === undefined ? {} : { status },
    );

  it('keeps all fields of its objects, and validates them by a schema that is not structural', async () => {
    await define('loose', { scope: 'Cluster', validation: gadgetSchema });
    const url = '/apis/example.org/v1/loose';
    const post = (size: number, status: number) =>
      request(
        'POST',
        url,
        { kind: 'loose', apiVersion: 'example.org/v1', metadata: { name: 'one' }, spec: { size, other: { x: 1 } } },
        { status },
      );
    await expect
      .poll(() =>
        request('GET', url).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect((await post(10, 422)).object['message']).toContain('spec.size');
    expect((await post(9, 201)).object['spec']).toEqual({ size: 9, other: { x: 1 } });
  });

  it('can be updated in v1, which creates no such definition', async () => {
    const { object } = await define('old', { validation: gadgetSchema });
    const { object: read } = await opened.replace(`${definitionsIn('v1')}/old.example.org`, (stored) => ({
      ...stored,
      spec: { ...specOf(stored), names: { ...(specOf(stored)['names'] as JsonObject), shortNames: ['o'] } },
    }));
    const { uid: _, resourceVersion: __, ...metadata } = read.metadata;
    const copy = { ...read, metadata: { ...metadata, name: 'copies.example.org' } };
    await request('POST', definitionsIn('v1'), copy as unknown as JsonObject, { status: 422 });
    expect(specOf(object)['preserveUnknownFields']).toBe(true);
  });

  it.each([
    ['another version than the first', { versions: [{ name: 'v2', served: true, storage: true }] }, 'spec.version'],
    [
      'schemas at the top and in versions',
      { validation: gadgetSchema, versions: [{ name: 'v1', served: true, storage: true, schema: gadgetSchema }] },
      'spec.validation',
    ],
    [
      'the same schema in all versions',
      { versions: [{ name: 'v1', served: true, storage: true, schema: gadgetSchema }] },
      'spec.versions',
    ],
    [
      'a default',
      { validation: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: 'x' } } } } },
      'must not be set in v1beta1',
    ],
    [
      'a schema that is not structural, with pruning',
      { validation: gadgetSchema, preserveUnknownFields: false },
      '.type',
    ],
  ])('cannot have %s', async (_, spec, part) => {
    const { object } = await define('wrong', spec, 422);
    expect(object['message']).toContain(part);
  });
});

const requestOf = (...subject: Parameters<typeof certificateRequest>[0]['subject'] & object) =>
  Buffer.from(certificateRequest({ subject })).toString('base64');

const conditionsOf = (object: ApiObject) => (object['status'] as { conditions: JsonObject[] }).conditions;

describe('a signing request of v1beta1', () => {
  const requestsIn = (version: string) => `/apis/certificates.k8s.io/${version}/certificatesigningrequests`;
  const node = [organization('system:nodes'), commonName('system:node:a')];

  it.each([
    [
      'a node, for the signer of its client certificate',
      node,
      ['digital signature', 'client auth'],
      'kube-apiserver-client-kubelet',
    ],
    ['anybody else, for no known signer', node.slice(1), ['digital signature', 'client auth'], 'legacy-unknown'],
  ])('is by default of %s', async (title, subject, usages, signer) => {
    const sent = { metadata: { name: title.replaceAll(/\W/g, '-') }, spec: { request: requestOf(...subject), usages } };
    const { object } = await request('POST', requestsIn('v1beta1'), sent);
    expect(specOf(object)['signerName']).toBe(`kubernetes.io/${signer}`);
  });

  it('is approved in both versions, although v1 creates no request with what it has', async () => {
    const spec = { request: requestOf(commonName('anna')), usages: ['any', 'any'] };
    const name = 'approved';
    const { object } = await request('POST', requestsIn('v1beta1'), { metadata: { name }, spec });
    await request('POST', requestsIn('v1'), { metadata: { name: 'other' }, spec: specOf(object) }, { status: 422 });
    const approve = (version: string, body: JsonObject) =>
      request('PUT', `${requestsIn(version)}/${name}/approval`, body);
    const approved = { ...object, status: { conditions: [{ type: 'Approved', reason: 'Known' }] } };
    const { object: after } = await approve('v1beta1', approved);
    expect(after['status']).toMatchObject({ conditions: [{ type: 'Approved', status: 'True', reason: 'Known' }] });
    const { object: read } = await request('GET', `${requestsIn('v1')}/${name}`);
    const more = { ...read, status: { conditions: [...conditionsOf(read), { type: 'Failed', status: 'True' }] } };
    expect(conditionsOf((await approve('v1', more)).object)).toHaveLength(2);
  });
});
