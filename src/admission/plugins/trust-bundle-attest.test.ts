import { describe, expect, it } from 'vitest';
import { defaultFeatures, type JsonObject } from '../../meta/index.ts';
import { fakeInitializer, old, outcome, requestFor } from '../testing/initializer.ts';
import type { ResourceAttributes } from '../types.ts';
import { trustBundleAttest } from './certificates.ts';

// Cases of the reference server.
const resource = 'clustertrustbundles.certificates.k8s.io';
const bundle = (signerName: string, metadata: JsonObject = {}, trustBundle = 'pem'): JsonObject => ({
  metadata,
  spec: { trustBundle, ...(signerName && { signerName }) },
});

async function ask(allowedName: string, object: JsonObject, before?: JsonObject, on = true) {
  const denies = ({ verb, group, version, resource: of, name }: ResourceAttributes) =>
    `${verb} ${of} ${group}/${version} ${name}` !== `attest signers certificates.k8s.io/* ${allowedName}`;
  const features = { ...defaultFeatures, ClusterTrustBundle: on };
  const plugin = trustBundleAttest({ ...fakeInitializer([], denies), features });
  const found = await outcome(plugin, requestFor(resource, object, { oldObject: before && old(before) }));
  return typeof found === 'string' ? found : undefined;
}

describe('ClusterTrustBundleAttest', () => {
  const signed = bundle('abc.com/xyz');
  const changed = bundle('abc.com/xyz', {}, 'other');
  const refused = 'user not permitted to attest for signerName "abc.com/xyz"';
  it.each<[string, string, JsonObject, JsonObject | undefined, string | undefined]>([
    ['a bundle without a signer', '', bundle(''), undefined, undefined],
    ['an update without a signer', '', bundle('', {}, 'a'), bundle('', {}, 'b'), undefined],
    ['a bundle of a signer that the user may attest for', 'abc.com/xyz', signed, undefined, undefined],
    ['an update of it', 'abc.com/xyz', changed, signed, undefined],
    ['a bundle of a domain that the user may attest for', 'abc.com/*', signed, undefined, undefined],
    ['a bundle of another signer', 'notabc.com/xyz', signed, undefined, refused],
    ['an update of another signer', 'notabc.com/xyz', changed, signed, refused],
    ['an update that changes nothing', '', signed, signed, undefined],
    [
      'an update of owners and finalizers',
      '',
      bundle('abc.com/xyz', { finalizers: ['a/b'], ownerReferences: [] }),
      signed,
      undefined,
    ],
    ['an update of labels', '', bundle('abc.com/xyz', { labels: { a: 'b' } }), signed, refused],
  ])('%s', async (_, allowed, object, before, message) => {
    expect(await ask(allowed, object, before)).toBe(message);
  });

  it('is off without the gate ClusterTrustBundle', async () => {
    expect(await ask('', signed, undefined, false)).toBeUndefined();
  });
});
