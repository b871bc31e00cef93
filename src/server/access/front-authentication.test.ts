import { describe, expect, it } from 'vitest';
import { issueCertificate } from '../../pki/index.ts';
import { readFront } from './front-authentication.ts';

const validity = { notBefore: Date.now() - 1_000, notAfter: Date.now() + 3_600_000 };
const { cert } = issueCertificate({ commonName: 'front-ca', usage: 'authority', ...validity });

describe('the config map extension-apiserver-authentication', () => {
  it('has the authorities and headers of a server in front', () => {
    const data = {
      'client-ca-file': `text before\n${cert}`,
      'requestheader-client-ca-file': cert,
      'requestheader-allowed-names': '["front"]',
      'requestheader-username-headers': '["X-Remote-User","X-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    };
    expect(readFront(data)).toEqual({
      clientCa: cert,
      requestHeaderCa: cert,
      proxies: {
        allowedNames: ['front'],
        names: {
          user: ['x-remote-user', 'x-user'],
          uid: [],
          group: ['x-remote-group'],
          extraPrefix: ['x-remote-extra-'],
        },
      },
    });
  });

  it('names no proxies where it has no authority for them', () => {
    expect(readFront(undefined).requestHeaderCa).toBeUndefined();
    expect(readFront({ 'requestheader-client-ca-file': '' }).requestHeaderCa).toBeUndefined();
  });

  it.each([
    ['client-ca-file', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'is not valid'],
    ['requestheader-allowed-names', '{}', 'must be a list of texts in JSON'],
    ['requestheader-allowed-names', '[1]', 'must be a list of texts in JSON'],
    ['requestheader-username-headers', '["a b"]', 'must have names of headers; "a b" is not'],
  ])('is refused with the key %s that is %j', (key, text, message) => {
    expect(() => readFront({ [key]: text })).toThrow(new RegExp(`^${key} .*${message}`));
  });
});
