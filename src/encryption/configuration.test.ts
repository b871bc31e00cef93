import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../codec/index.ts';
import { type Json, namesFor } from '../meta/index.ts';
import { decodeConfiguration } from '../schema/index.ts';
import { encryptionFormat } from './configuration.ts';

const names = namesFor('k8s.io');
const secret = Buffer.alloc(32, 7).toString('base64');
const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
const identity = { identity: {} };
const plugin = { apiVersion: 'v2', name: 'p', endpoint: 'unix:///run/p.sock', timeout: '3s' };

const problems = (value: Json) => {
  const decoded = decodeConfiguration(encryptionFormat, value, names);
  return 'problems' in decoded ? decoded.problems : [];
};
const ofEntries = (...resources: Json[]) => problems({ ...kind, resources });
const ofProvider = (...providers: Json[]) => ofEntries({ resources: ['secrets'], providers });
const ofResources = (...lists: Json[]) =>
  ofEntries(...lists.map((resources) => ({ resources, providers: [identity] })));

describe('a valid configuration', () => {
  it.each([16, 24, 32])('has AES keys of %d bytes', (length) => {
    const keys = [{ name: 'a', secret: Buffer.alloc(length).toString('base64') }];
    expect(ofProvider({ aescbc: { keys } }, { aesgcm: { keys } }, identity)).toEqual([]);
  });

  it('has other providers, and patterns from narrow to wide', () => {
    expect(ofProvider({ secretbox: { keys: [{ name: 'a', secret }] } }, { kms: plugin }, identity)).toEqual([]);
    expect(ofProvider({ kms: null, aescbc: null, identity: {} })).toEqual([]);
    expect(ofResources(['secrets', 'deployments.apps'], ['secrets'], ['*.', '*.apps'], ['*.*'])).toEqual([]);
  });
});

describe('an invalid configuration names each field', () => {
  it.each([
    [{ ...kind, resources: [] }, 'resources: Required value: name at least one resource and its providers'],
    [{ ...kind, kind: 'Other', resources: [] }, 'apiVersion and kind: "Other" of'],
    [{ ...kind, apiVersion: 'apiserver.config.k8s.io/v2', resources: [] }, 'must be one of EncryptionConfiguration of'],
    [{ ...kind, resources: [], more: 1 }, 'unknown field "more"'],
  ])('%j', (value, problem) => {
    expect(problems(value).join('; ')).toContain(problem);
  });

  it.each([
    [[[]], 'resources[0].resources: Required value'],
    [[['*']], 'resources[0].resources[0]: Invalid value: "*": must be *. for the core group'],
    [[['Secrets']], 'must be in lower case'],
    [[['secrets', 'serviceipallocations']], 'resources[0].resources[1]: Invalid value: "serviceipallocations"'],
    [[['.apps']], 'must begin with the plural name'],
    [[['events.events.k8s.io']], 'must be events'],
    [[['ingresses.extensions']], 'must not be of the group extensions'],
    [[['secrets.*']], 'must name one group'],
    [[['secrets', 'secrets']], 'resources[0].resources[1]: Duplicate value: "secrets"'],
    [[['*.', 'secrets']], 'resources[0].resources[1]: Invalid value: "secrets": is covered by *. of the same list'],
    [[['*.*', '*.apps']], '"*.apps": is covered by *.* of the same list'],
    [[['*.apps'], ['deployments.apps']], 'resources[1].resources[0]: Invalid value: "deployments.apps": is covered'],
    [[['*.apps'], ['*.apps']], 'resources[1].resources[0]: Invalid value: "*.apps": is covered by *.apps'],
    [[['*.*'], ['secrets']], '"secrets": is covered by *.* of an earlier list'],
  ])('resources %j', (lists, problem) => {
    expect(ofResources(...lists).join('; ')).toContain(problem);
  });

  it('the first pattern that covers a resource is named, and each repetition once', () => {
    expect(ofResources(['a.apps', 'a.apps', 'b.apps', '*.*', '*.apps', 'b.apps'])).toEqual([
      'resources[0].resources[0]: Invalid value: "a.apps": is covered by *.* of the same list',
      'resources[0].resources[1]: Duplicate value: "a.apps"',
      'resources[0].resources[2]: Invalid value: "b.apps": is covered by *.* of the same list',
      'resources[0].resources[4]: Invalid value: "*.apps": is covered by *.* of the same list',
      'resources[0].resources[5]: Duplicate value: "b.apps"',
    ]);
    expect(ofResources(['*.apps'], ['*.*'], ['deployments.apps'])).toEqual([
      'resources[2].resources[0]: Invalid value: "deployments.apps": is covered by *.apps of an earlier list',
    ]);
  });

  it('many resources are compared with no more than the patterns of their groups', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => `r${i}.example.com`);
    expect(ofResources(many, [...many, '*.'])).toEqual([]);
  });

  const at = 'resources[0].providers[0]';
  it.each([
    [[], 'resources[0].providers: Required value'],
    [[{}], `${at}: Invalid value: must have exactly one of`],
    [[{ identity: {}, aescbc: { keys: [] } }], `${at}: Invalid value: must have exactly one of`],
    [[{ aescbc: {} }], `${at}.aescbc.keys: Required value: name at least one key`],
    [[{ aescbc: { keys: [{ name: '', secret }] } }], `${at}.aescbc.keys[0].name: Required value`],
    [[{ aesgcm: { keys: [{ name: 'a' }] } }], `${at}.aesgcm.keys[0].secret: Required value`],
    [[{ secretbox: { keys: [{ name: 'x'.repeat(254), secret }] } }], 'keys[0].name: Too long'],
    [[{ kms: { ...plugin, apiVersion: 'v1' } }], `${at}.kms.apiVersion: Invalid value: "v1": must be v2`],
    [[{ kms: { ...plugin, apiVersion: undefined } }], `${at}.kms.apiVersion: Invalid value: "": must be v2`],
    [[{ kms: { ...plugin, cachesize: 5 } }], `${at}.kms.cachesize: Invalid value: 5: must not be set`],
    [[{ kms: { ...plugin, name: 'a:b' } }], `${at}.kms.name: Invalid value: "a:b": must not contain a colon`],
    [[{ kms: { ...plugin, name: '' } }], `${at}.kms.name: Required value`],
    [[{ kms: { ...plugin, timeout: '-1s' } }], `${at}.kms.timeout: Invalid value: "-1s": must be positive`],
    [
      [{ kms: { ...plugin, endpoint: 'https://a' } }],
      `${at}.kms.endpoint: Invalid value: "https://a": must be a socket`,
    ],
    [[{ kms: { ...plugin, endpoint: 'unix:///' } }], 'must be a socket, such as unix:///run/kms.sock'],
    [[{ kms: plugin }, { kms: plugin }], 'resources[0].providers[1].kms.name: Duplicate value: "p"'],
  ])('providers %j', (providers, problem) => {
    const given = JSON.parse(JSON.stringify(providers)) as Json[];
    expect(ofProvider(...given).join('; ')).toContain(problem);
  });

  it('also for too many keys', () => {
    const keys = Array<Json>(101).fill({ name: 'a', secret });
    expect(ofProvider({ secretbox: { keys } })).toEqual([expect.stringContaining('secretbox.keys: Too many: 101')]);
  });

  it.each(['SECRET', 'U0VDUkVU', 'SECRET\nSECRET', `${secret}SECRET`, 12_345_678, true, ['SECRET'], { a: 'SECRET' }])(
    'and never shows a secret: %j',
    (wrong) => {
      for (const type of ['aescbc', 'aesgcm', 'secretbox']) {
        const found = ofProvider({ [type]: { keys: [{ name: 'a', secret: wrong }] } }).join('; ');
        expect(found).toContain('secret');
        expect(found).not.toMatch(/SECRET|U0VD|12345678/);
      }
    },
  );
});

it('the example of the documentation is valid', () => {
  const text = readFileSync(new URL('../../docs/encryption.md', import.meta.url), 'utf8');
  const [, example = ''] = /```yaml\n([^`]*)```/.exec(text) ?? [];
  const { value } = parseYaml(Buffer.from(example));
  const decoded = decodeConfiguration(encryptionFormat, value, namesFor('orch.io'));
  expect('problems' in decoded ? decoded.problems : decoded.value.resources).toHaveLength(3);
});
