/**
 * The authentication settings of the server in front of an extension API server: its config map
 * `extension-apiserver-authentication`.
 */
import type { RequestHeaderSettings } from '../../auth/index.ts';
import { createClient, httpsTransport, reflect } from '../../client/index.ts';
import { type ApiObject, at, type Clock, type Json, type Names } from '../../meta/index.ts';
import { formatPem, isCertificate, pemBlocks } from '../../pki/index.ts';
import type { FrontAuthorities } from '../certificates/trusted-authorities.ts';
import { httpsOptionsOf } from '../commands/remote-server.ts';
import type { Log } from '../dependencies.ts';
import { readWebhookConfig } from '../webhooks/webhook-kubeconfig.ts';

/** The authorities that the server in front trusts, and how it names users to the servers behind it. */
export interface FrontAuthentication extends FrontAuthorities {
  readonly proxies: RequestHeaderSettings;
}

interface FollowOptions {
  readonly kubeconfig: string;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Calls `use` with what the server in front says, and again after each change. What cannot be read is reported, and the last
 * valid state stays. Returns a function that ends it. @throws StartError for an invalid kubeconfig
 */
export async function followFront(
  { kubeconfig, names, clock, log }: FollowOptions,
  use: (front: FrontAuthentication) => void,
): Promise<() => Promise<void>> {
  const config = await readWebhookConfig(setting, kubeconfig);
  if (config.url.pathname !== '/') {
    log.warn(`the config map ${configMapName} is not read: the server of ${setting} has a path`, {});
    return async () => {};
  }
  const transport = httpsTransport(httpsOptionsOf(config));
  const client = createClient({ transport, apiDomain: names.domain });
  const stopping = new AbortController();
  const place = { apiVersion: 'v1', resource: 'configmaps', namespace: names.systemNamespace };
  const take = (configMap: ApiObject) => {
    try {
      use(readFront(at(configMap, 'data')));
    } catch (error) {
      log.error(`the config map ${configMapName} of the server in front is not valid`, { error });
    }
  };
  const running = reflect(
    {
      client,
      clock,
      log,
      signal: stopping.signal,
      name: 'configmaps',
      place: async () => place,
      selection: { fieldSelector: `metadata.name=${configMapName}` },
    },
    {
      page: (objects) => objects.forEach(take),
      listed: () => {},
      event: ({ type, object }) => {
        if (type === 'ADDED' || type === 'MODIFIED') take(object);
      },
    },
  );
  return async () => {
    stopping.abort();
    await running;
    transport.close();
  };
}

const setting = '--authentication-kubeconfig';
const configMapName = 'extension-apiserver-authentication';

/** @throws Error that names the key */
export function readFront(data: Json | undefined): FrontAuthentication {
  const textOf = (key: string): string | undefined => {
    const value = at(data, key);
    return typeof value === 'string' ? value : undefined;
  };
  const headersOf = (key: string): string[] => {
    const headers = textsIn(key, textOf(key));
    const wrong = headers.find((header) => !/^[\w!#$%&'*+.^`|~-]+$/.test(header));
    if (wrong !== undefined) throw new Error(`${key} must have names of headers; ${JSON.stringify(wrong)} is not`);
    return headers.map((header) => header.toLowerCase());
  };
  return {
    clientCa: authoritiesIn('client-ca-file', textOf('client-ca-file')) ?? '',
    requestHeaderCa: authoritiesIn('requestheader-client-ca-file', textOf('requestheader-client-ca-file')),
    proxies: {
      allowedNames: textsIn('requestheader-allowed-names', textOf('requestheader-allowed-names')),
      names: {
        user: headersOf('requestheader-username-headers'),
        uid: headersOf('requestheader-uid-headers'),
        group: headersOf('requestheader-group-headers'),
        extraPrefix: headersOf('requestheader-extra-headers-prefix'),
      },
    },
  };
}

/** The certificates of a bundle in PEM; undefined without any. */
function authoritiesIn(key: string, text = ''): string | undefined {
  const blocks = pemBlocks(text).filter(({ type }) => type === 'CERTIFICATE');
  if (!blocks.every(({ bytes }) => isCertificate(bytes))) throw new Error(`${key} has a certificate that is not valid`);
  return blocks.length === 0 ? undefined : blocks.map(({ type, bytes }) => formatPem(type, bytes)).join('');
}

function textsIn(key: string, text = '[]'): string[] {
  const list: unknown = JSON.parse(text === '' ? '[]' : text);
  if (Array.isArray(list) && list.every((one) => typeof one === 'string')) return list;
  throw new Error(`${key} must be a list of texts in JSON`);
}
