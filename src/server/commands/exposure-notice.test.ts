import { describe, expect, it } from 'vitest';
import { modesOf } from '../settings/authorization-modes.ts';
import { defaultSettings } from '../settings/flags.ts';
import { exposureNotice } from './exposure-notice.ts';

const given = { ...defaultSettings, dataDir: 'my data' };

it('by default the server listens on a loopback address, with RBAC, and nobody has a password', () => {
  expect(defaultSettings).toMatchObject({
    bindAddress: '127.0.0.1',
    tokenAuthFile: undefined,
    requestheaderClientCaFile: undefined,
    enableBootstrapTokenAuth: false,
  });
  expect(modesOf(defaultSettings)).toEqual(['RBAC']);
});

describe('the notice of a server that others can reach', () => {
  it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('is empty at %s', (bindAddress) => {
    expect(exposureNotice({ ...given, bindAddress })).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '192.0.2.1', '::127.0.0.1'])('says what to check at %s', (bindAddress) => {
    expect(exposureNotice({ ...given, bindAddress })).toEqual([
      `others can reach ${bindAddress}. Check:`,
      "- clients verify this server with 'my data/ca.crt': give it to them, or set --tls-cert-file and --tls-private-key-file",
      "- whoever can read 'my data/ca.key' can be any user; client certificates of your own authority: --client-ca-file",
      '- strangers can read /version and health checks: --anonymous-auth=false refuses them',
    ]);
  });

  it('leaves out what was chosen', () => {
    const open = { ...given, bindAddress: '::', tlsCertFile: 'a.crt', anonymousAuth: false };
    expect(exposureNotice({ ...open, authorizationMode: ['AlwaysAllow'] })).toEqual([
      'others can reach ::. Check:',
      "- whoever can read 'my data/ca.key' can be any user; client certificates of your own authority: --client-ca-file",
      '- every request with credentials is allowed: --authorization-mode=RBAC',
    ]);
    expect(exposureNotice({ ...open, clientCaFile: 'b.crt' })).toEqual([]);
  });
});
